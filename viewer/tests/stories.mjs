// Invented memories: one that the server stores, and one of many entities.

export const HOSTILE = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>";

export const messages = [
  { id: "m1", speaker: "Ines", time: "2015-05-10", text: "I moved to Lisbon in March, to a flat above a bakery." },
  { id: "m2", speaker: "Ines", time: "2019-10-02", text: "I live in Porto now. Mara found me a room in Ribeira." },
  { id: "m3", speaker: "Tomas", time: "2018-06-02", text: "Ines and I share the boat. We called it Alcatraz." },
  { id: "m4", speaker: "Mara", time: "2021-02-14", text: `The new intern signs as ${HOSTILE}.` },
];

export const facts = [
  { head: "Ines", relation: "lives_in", tail: "Lisbon", valid_from: "2015-03-01", source: "m1" },
  { head: "Ines", relation: "lives_in", tail: "Porto", valid_from: "2019-10-02", source: "m2" },
  { head: "Ines", relation: "owns", tail: "Alcatraz", valid_from: "2018-06-02", source: "m3" },
  { head: "Tomas", relation: "owns", tail: "Alcatraz", valid_from: "2018-06-02", source: "m3" },
  { head: "Mara", relation: "colleague_of", tail: HOSTILE, valid_from: "2021-02-01", source: "m4" },
  { head: "Mara", relation: "lives_in", tail: "Porto", valid_from: "2017-05-01" },
  ...Array.from({ length: 130 }, (_, number) => ({ head: "Alcatraz", relation: "visited", tail: `Bay ${number}`, valid_from: "2020-05-01" })),
];

export const point = { entities: ["Ines", "Tomas", "Alcatraz"], description: "Ines and Tomas share the boat Alcatraz." };

/** A graph of so many entities and half as many facts again, a fifth of them past, with memory points. */
export function large(entities) {
  const kinds = ["person", "place", "organisation", "time", undefined];
  const nodes = Array.from({ length: entities }, (_, n) => ({ id: `n${n}`, name: `Entity ${n}`, kind: kinds[n % 5], facts: 3 }));
  const edges = Array.from({ length: entities * 1.5 }, (_, n) => {
    const from = n % entities, to = n < entities - 1 ? n + 1 - ((n * 7) % Math.min(n + 1, 40)) : (n * 31) % entities;
    const times = n % 5 ? { valid_from: "2020-01-01", status: "active" } : { valid_from: "2018-01-01", valid_to: "2020-01-01", status: "closed" };
    return { id: `f${n}`, from: `n${from}`, to: `n${to}`, relation: "knows", label: "knows", text: `Entity ${from} knows Entity ${to}`, kind: "state", ...times };
  });
  const hyperedges = Array.from({ length: 30 }, (_, n) => ({ id: `h${n}`, text: `Point ${n}`, nodes: [`n${n * 3}`, `n${n * 3 + 1}`, `n${n * 3 + 2}`] }));
  return { space: "default", nodes, edges, hyperedges, total: { nodes: entities, edges: edges.length, hyperedges: 30 } };
}
