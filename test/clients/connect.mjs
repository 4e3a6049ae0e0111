// connect connects one of the two clients to a program over stdio, or to a URL.
export async function connect(library, kind, target, args) {
  const info = { name: "e2e", version: "1.0.0" };
  const stdio = { command: target, args, stderr: "inherit" };
  if (library === "sdk") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const client = new Client(info);
    await client.connect(kind === "stdio" ? new StdioClientTransport(stdio) : new StreamableHTTPClientTransport(new URL(target)));
    return client;
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client(info, { versionNegotiation: { mode: "auto" } });
  await client.connect(kind === "stdio" ? new StdioClientTransport(stdio) : new StreamableHTTPClientTransport(new URL(target)));
  return client;
}
