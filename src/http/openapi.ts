import fastifySwagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { stringifyExactJson } from '../exact-json.ts';
import { makeAnswer, sendAnswer } from './conditional.ts';
import { completeDescription, type RouteDescription } from './openapi-completion.ts';

const introduction = `A catalogue of the animals that a store offers, over HTTP and JSON.

Every request bears an API key: \`Authorization: Bearer <API_KEY>\`. Every response tells what is left of the key's
limits; after a 429 wait as \`Retry-After\` says. Every failure has one body, \`Error\`, with a \`code\` to act on. An
\`int64\` has up to 19 digits, more than a JavaScript number keeps. What is marked \`x-stability: beta\` may change.`;

/**
 * Describes the routes as OpenAPI 3.1 at `/openapi.json`: from their own schemas, and what else is known of each
 * operation (openapi-operations.ts). To be called before the routes are added; the text is made once, at the start.
 */
export async function describeApi(server: FastifyInstance, publicUrl: string | null): Promise<void> {
  await server.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Animal Store',
        version: '1.0.0',
        description: introduction,
        contact: describeContact(publicUrl),
        license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
      },
      servers: [{ url: publicUrl ?? '/v1' }],
      tags: [{ name: 'pets', description: 'The animals of the catalogue.' }],
      security: [{ apiKey: [] }],
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `as_<env>_…`.' },
        },
      },
    },
    // The base address ends in the version, whatever stands before it.
    stripBasePath: false,
    transform: ({ schema, url }) => ({ schema, url: url.replace(/^\/v1/, '') }),
  });

  let answer = makeAnswer('');
  server.addHook('onReady', async () => {
    const description = completeDescription(server.swagger() as unknown as RouteDescription);
    answer = makeAnswer(stringifyExactJson(description));
  });
  server.get(
    '/openapi.json',
    { schema: { hide: true }, config: { isPublic: true } },
    async (request, reply) => sendAnswer(request, reply, answer),
  );
}

/** Keys and help come from the operator; the page stands beside the base address, where that is known. */
function describeContact(publicUrl: string | null) {
  const name = 'The operator of this store';
  return publicUrl === null ? { name } : { name, url: new URL('docs', publicUrl).href };
}
