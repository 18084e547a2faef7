// Makes the viewer: one HTML file with its script and its styles inside, and a policy that allows these two alone.
// The same sources and the same versions (package-lock.json) give the same bytes.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const bundled = async (entry) => {
  const options = { entryPoints: [here(entry)], bundle: true, minify: true, charset: "utf8", write: false };
  const { outputFiles } = await build({ ...options, format: "iife", target: "es2022", legalComments: "none" });
  return outputFiles[0].text.trim();
};
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const script = (await bundled("src/main.ts")).replaceAll("</script", "<\\/script");
const style = await bundled("src/style.css");
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
].join("; ");
const page = readFileSync(here("src/index.html"), "utf8")
  .replace("POLICY", () => policy)
  .replace("/* STYLE */", () => style)
  .replace("/* SCRIPT */", () => script);
writeFileSync(process.argv[2], page);
