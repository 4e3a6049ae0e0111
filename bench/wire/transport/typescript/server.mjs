// Serves one tool that does nothing with the TypeScript SDK, over stdio or HTTP: node server.mjs stdio|http
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

function newServer() {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  const inputSchema = {
    title: z.string().min(1).max(200),
    notes: z.string().max(4000).optional(),
    slug: z.string().max(63).regex(/^[a-z][a-z0-9-]*$/),
    priority: z.enum(['low', 'medium', 'high']).optional(),
    estimate: z.number().int().min(0).max(10000).optional(),
    urgent: z.boolean().optional(),
    tags: z.array(z.string()).max(20).optional(),
    owner: z.object({
      name: z.string().min(1).max(80),
      email: z.string().max(120).optional(),
      level: z.number().int().min(0).max(10).optional(),
    }).optional(),
    labels: z.record(z.string(), z.string()).optional(),
    due_at: z.string().optional(),
  };
  server.registerTool('create_todo', { description: 'Does nothing.', inputSchema }, async () => ({
    content: [{ type: 'text', text: '{"success":true,"data":null}' }],
  }));
  return server;
}

if (process.argv[2] === 'stdio') {
  await newServer().connect(new StdioServerTransport());
} else {
  const sessions = new Map();
  const http = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id'];
    let transport = sessions.get(id);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => sessions.set(session, transport),
      });
      await newServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1', () => console.log(`127.0.0.1:${http.address().port}`));
}
