// A host of the viewer: the official bridge of MCP Apps, in a page. What it is asked for it passes on to the test.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

window.start = async (html, context, capabilities) => {
  const frame = document.getElementById("app"), told = { sizes: [], modes: [], ready: 0 };
  const bridge = new AppBridge(null, { name: "test-host", version: "1" }, capabilities, { hostContext: context });
  bridge.oncalltool = (params) => window.callTool(params);
  bridge.onreadresource = (params) => window.readResource(params);
  bridge.onsizechange = (size) => told.sizes.push(size);
  bridge.onrequestdisplaymode = async ({ mode }) => { told.modes.push(mode); return { mode }; };
  const ready = new Promise((done) => { bridge.oninitialized = () => { told.ready += 1; done(); }; });
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = html;
  await ready;
  Object.assign(window, { bridge, told });
  return bridge.getAppVersion();
};
