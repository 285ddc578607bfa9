import { listParameters, type Parameter } from '../../openapi/parameters.ts';
import type { Operation } from '../../operation.ts';
import { jsonTypes } from '../../request/body.ts';

/** The client methods whose names do not follow from their operations. */
const exceptions: Readonly<Record<string, string>> = {
  getAccount: 'account',
  getInventory: 'store.inventory',
  listRequests: 'requests.list',
};

/** Returns the client method of an operation: `webhooks.rotateSecret` for `rotateWebhookSecret`. */
export function nameMethod({ id, tag }: Operation): string {
  const plural = tag.charAt(0).toUpperCase() + tag.slice(1);
  const singular = plural.replace(/(?:(i)e)?s$/, (_, i) => (i === undefined ? '' : 'y'));
  return exceptions[id] ?? `${tag}.${id.replace(new RegExp(`${plural}|${singular}`), '')}`;
}

/** The request that samples show, and that the try-it form changes. The path is that of OpenAPI; `body.text` is JSON. */
export type SampleRequest = ReturnType<typeof chooseRequest>;

/** Chooses an example request with all required values, and with `limit` and filters of fixed values. */
export function chooseRequest(operation: Operation, baseUrl: string) {
  const { method, path, body, bodyTypes = jsonTypes.plain, bodyExamples = {}, isIdempotent } = operation;
  const [example] = Object.values(bodyExamples);
  const isShown = ({ place, name, schema }: Parameter) =>
    place === 'path' || (place === 'query' && (name === 'limit' || schema.enum !== undefined));
  return {
    method,
    path,
    baseUrl,
    call: nameMethod(operation),
    isIdempotent: isIdempotent ?? false,
    values: listParameters(operation)
      .filter(isShown)
      .map((parameter) => {
        const { place, name, schema } = parameter;
        return { place, name, kind: nameKind(parameter), value: String(schema.examples?.[0]) };
      }),
    body: body === undefined ? null : { type: bodyTypes[0] ?? '', text: JSON.stringify(example?.value) },
    answer: nameAnswer(operation),
  };
}

/** Says how a program writes a parameter. */
export function nameKind({ schema: { type, items } }: Parameter): 'number' | 'numbers' | 'text' | 'texts' {
  if (items !== undefined) return items.type === 'integer' ? 'numbers' : 'texts';
  return type === 'integer' ? 'number' : 'text';
}

/** A `list` has pages, an `array` has none. */
function nameAnswer({ answers, query }: Operation): 'list' | 'array' | 'object' | 'nothing' {
  const body = Object.values(answers)[0]?.body;
  if (body === undefined) return 'nothing';
  if (!('items' in body)) return 'object';
  return query === undefined ? 'array' : 'list';
}
