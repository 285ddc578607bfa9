import { stringifyExactJson } from '../../exact-json.ts';
import { tags } from '../api/operations.ts';
import type { Operation } from '../operation.ts';
import { responseHeaders } from './headers.ts';
import { describeOperation, type Shared } from './operations.ts';
import { describeRequestHeaders } from './parameters.ts';
import { createSharedSchemas } from './schemas.ts';
import { describeWebhookMessage } from './webhook-message.ts';

/** The first text of the description and of the documentation, in Markdown. */
export const introduction = `A catalogue of the animals that a store offers, over HTTP and JSON.

Send an API key with every request: \`Authorization: Bearer <API_KEY>\`. The headers of every response show what is left
of the key's limits. After a 429, wait as long as \`Retry-After\` says. Every failure has the same body, \`Error\`, with a
\`code\` for programs. An \`int64\` has up to 19 digits, more than a JavaScript number can hold. Parts with
\`x-stability: beta\` may change.`;

/**
 * Returns the text of `/openapi.json` (OpenAPI 3.1). `ownUrl` is the base URL at which this machine reaches the
 * service. The description contains `ownUrl` if there is no public URL, because code generators need an absolute URL.
 */
export function describeApi(
  operations: readonly Operation[],
  publicUrl: string | null,
  ownUrl: string,
): string {
  const shared: Shared = { schemas: createSharedSchemas(), responses: new Map() };
  const docs = publicUrl === null ? {} : { url: new URL('docs', publicUrl).href };
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const path = paths[operation.path] ?? {};
    path[operation.method.toLowerCase()] = describeOperation(operation, shared);
    paths[operation.path] = path;
  }
  return stringifyExactJson({
    openapi: '3.1.1',
    info: {
      title: 'Animal Store',
      version: '1.0.0',
      description: introduction,
      contact: { name: 'The operator of this store', ...docs },
      license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
    },
    servers: listServers(publicUrl, ownUrl),
    tags,
    security: [{ apiKey: [] }],
    paths,
    webhooks: { event: { post: describeWebhookMessage(shared.schemas) } },
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `as_<env>_…`.' },
      },
      schemas: Object.fromEntries([...shared.schemas].filter(([, schema]) => schema !== null)),
      parameters: describeRequestHeaders(shared.schemas),
      headers: responseHeaders,
      responses: Object.fromEntries(shared.responses),
    },
  });
}

function listServers(publicUrl: string | null, ownUrl: string) {
  if (publicUrl !== null) return [{ url: publicUrl, 'x-internal': false }];
  const loaded = 'Where this description was loaded from: local, staging or production.';
  return [
    // Code generators use the first server, so its URL is absolute.
    { url: ownUrl, description: 'The local address of this service.', 'x-internal': true },
    { url: '/v1', description: loaded, 'x-internal': false },
  ];
}
