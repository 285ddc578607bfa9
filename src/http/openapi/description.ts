import { stringifyExactJson } from '../../exact-json.ts';
import type { Operation } from '../operation.ts';
import { responseHeaders } from './headers.ts';
import { describeOperation, type SharedResponses } from './operations.ts';
import { describeRequestHeaders } from './parameters.ts';
import { describeSchemas } from './schemas.ts';

const introduction = `A catalogue of the animals that a store offers, over HTTP and JSON.

Send an API key with every request: \`Authorization: Bearer <API_KEY>\`. Every response has headers that say what is left
of the key's limits; after a 429 wait as \`Retry-After\` says. Every failure has the same body, \`Error\`, with a \`code\`
to act on. An \`int64\` has up to 19 digits, more than a JavaScript number keeps. What is marked \`x-stability: beta\`
may change.`;

const tags = [
  { name: 'pets', description: 'The animals of the catalogue.' },
  { name: 'store', description: 'What the store has.' },
  { name: 'orders', description: 'Reservations and sales of animals.' },
  { name: 'events', description: 'Every change, in one order.' },
  { name: 'categories', description: 'Names for the numbers that animals bear as `categoryId`.' },
];

/** The text of `/openapi.json`: OpenAPI 3.1, from the operations alone. */
export function describeApi(operations: readonly Operation[], publicUrl: string | null): string {
  const shared: SharedResponses = new Map();
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
      contact: describeContact(publicUrl),
      license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
    },
    servers: [{ url: publicUrl ?? '/v1', 'x-internal': false }],
    tags,
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `as_<env>_…`.' },
      },
      schemas: describeSchemas(),
      parameters: describeRequestHeaders(),
      headers: responseHeaders,
      responses: Object.fromEntries(shared),
    },
  });
}

/** Keys and help come from the operator; the page stands beside the base address, if that is known. */
function describeContact(publicUrl: string | null) {
  const name = 'The operator of this store';
  return publicUrl === null ? { name } : { name, url: new URL('docs', publicUrl).href };
}
