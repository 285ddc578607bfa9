import assert from 'node:assert/strict';
import { eventIdExample } from '../../src/events/event.ts';
import { listParameters } from '../../src/http/openapi/parameters.ts';
import type { Operation } from '../../src/http/operation.ts';

/** Returns the first example of an operation's body, or null if the operation takes no body. */
function readExampleBody({ bodyExamples = {} }: Operation): Record<string, unknown> | null {
  const [first] = Object.values(bodyExamples);
  return first === undefined ? null : { ...(first.value as Record<string, unknown>) };
}

/**
 * Creates the objects that the examples of the description refer to, using only operations of the description. `baseUrl`
 * is the address of a running service. `key` must have every scope.
 */
export function createExampleRequests(baseUrl: string, key: string, operations: readonly Operation[]) {
  const find = (method: string, path: string) =>
    operations.find((operation) => operation.method === method && operation.path === path);

  async function call(method: string, path: string, body: object | null): Promise<unknown> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body !== null && { body: JSON.stringify(body) }) };
    const answer = await fetch(baseUrl + path, init);
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  /** An account may have few webhooks, so the one made before goes first, unless its operation has deleted it. */
  async function deleteLastWebhook(): Promise<void> {
    const webhooks = (await call('GET', '/webhooks', null)) as { id: string }[];
    if (webhooks.length > 1) await call('DELETE', `/webhooks/${webhooks[0]?.id}`, null);
  }

  /** Posts the example of a collection and returns the identifier of the new object. */
  async function makeOne(collection: string): Promise<string> {
    if (collection === '/webhooks') await deleteLastWebhook();
    const post = find('POST', collection);
    assert.ok(post !== undefined, `nothing adds to ${collection}`);
    const body = readExampleBody(post) ?? {};
    if ('petId' in body) body['petId'] = Number(await makeOne('/pets'));
    const { id } = (await call('POST', collection, body)) as { id: number | string };
    return String(id);
  }

  /** Adds an animal and returns the identifier of its event. */
  async function makeEvent(): Promise<string> {
    await makeOne('/pets');
    const events = (await call('GET', '/events?limit=100', null)) as { id: string; type: string }[];
    return events.findLast(({ type }) => type === 'pet.added')?.id ?? assert.fail('there is no event');
  }

  return {
    /**
     * Sends the request of an operation with its first examples or another `example` of its body, in which `made` replaces
     * identifiers. Returns the body of the response.
     */
    async send(
      operation: Operation,
      made: ReadonlyMap<string, string>,
      example: unknown = readExampleBody(operation),
    ): Promise<unknown> {
      const examples = listParameters(operation).map(
        ({ name, schema }) => [name, schema.examples?.[0]] as const,
      );
      const path = examples.reduce(
        (text, [name, value]) => text.replace(`{${name}}`, String(value)),
        operation.path as string,
      );
      const body = JSON.stringify(example);
      return call(operation.method, putIdentifiers(path, made), JSON.parse(putIdentifiers(body, made)));
    },

    /**
     * Creates the objects for an operation. Maps each identifier in its examples to the identifier of the created object.
     */
    async prepare(operation: Operation): Promise<ReadonlyMap<string, string>> {
      const made = new Map<string, string>();
      const body = readExampleBody(operation) ?? {};
      if ('petId' in body) made.set('42', await makeOne('/pets'));
      const bodies = JSON.stringify(operation.bodyExamples ?? {});
      if (bodies.includes(eventIdExample)) made.set(eventIdExample, await makeEvent());
      const parameter = listParameters(operation).find(({ place }) => place === 'path');
      if (parameter === undefined) return made;
      const example = String(parameter.schema.examples?.[0]);
      const collection = operation.path.slice(0, operation.path.indexOf('/{'));
      const put = find('PUT', `${collection}/{${parameter.name}}`);
      if (collection === '/events') made.set(example, await makeEvent());
      else if (put === undefined) made.set(example, await makeOne(collection));
      else await call('PUT', `${collection}/${example}`, readExampleBody(put));
      const order = made.get(example);
      if (operation.id === 'returnOrder') await call('POST', `/orders/${order}/complete`, null);
      return made;
    },
  };
}

/** Replaces the identifiers of the examples in a text by the identifiers of the created objects. */
export function putIdentifiers(text: string, made: ReadonlyMap<string, string>): string {
  let result = text;
  for (const [example, actual] of made)
    result = result.replaceAll(new RegExp(`\\b${example}(?=n?\\b)`, 'g'), actual);
  return result;
}
