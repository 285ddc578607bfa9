import type { Static, TObject } from 'typebox';
import type { AppError } from '../../../errors.ts';
import type { consoleOperations } from '../console.ts';
import type { ParameterOf } from '../operation.ts';
import type { SignInOperation } from '../sign-in.ts';

type Operation = (typeof consoleOperations)[number] | SignInOperation;
type Operations = { readonly [Each in Operation as Each['address']]: Each };

/** The address of an operation, such as `GET /pets/{petId}`. */
export type Address = keyof Operations;

/** A value as the JSON of a response has it: an int64 is a text. */
type Received<Value> = Value extends bigint
  ? `${bigint}`
  : Value extends object
    ? { readonly [Name in keyof Value]: Received<Value[Name]> }
    : Value;

export type AnswerOf<Of extends Address> = Operations[Of] extends {
  act(input: never, context: never): Promise<infer Answer>;
}
  ? Received<Answer>
  : never;

type FieldsOf<Of extends Address> = Static<TObject<Operations[Of]['fields']>>;
type Sent<Value> = Value extends bigint | number | string ? bigint | number | string : Value;

/**
 * The fields of the body or the query. A field may be absent or any text, because somebody typed it: the API refuses what
 * is not valid, and says why.
 */
export type InputOf<Of extends Address> = {
  readonly [Name in keyof FieldsOf<Of>]?: Sent<FieldsOf<Of>[Name]> | undefined;
};

/** The parameters of the path, and those of the query of a GET. */
export type ParametersOf<Of extends Address> = {
  readonly [Name in ParameterOf<Of>]: string;
} & (Of extends `GET ${string}` ? InputOf<Of> : unknown);

/** The query of a page that shows a list: the filters of the list, and where the pages before this one start. */
export type QueryOf<Of extends Address> = {
  readonly [Name in keyof FieldsOf<Of> | 'back']?: string | undefined;
};

/** A failed call of the API, with a message for the user. */
export class ApiFailure extends Error {
  readonly code: AppError['code'] | 'unreachable';

  constructor(code: ApiFailure['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Returns what was thrown as an error that has a message. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

const unreachable = 'The service does not answer. It may be stopped, or the network is down. Try again.';
const onSignedOut = new Set<() => void>();

/** Calls `listener` when a response says that the session has ended. Returns a function that removes the listener. */
export function watchSession(listener: () => void): () => void {
  onSignedOut.add(listener);
  return () => onSignedOut.delete(listener);
}

/**
 * Calls an operation of the API. Returns the parsed JSON of the response, or undefined for a 204. Throws ApiFailure.
 * The page and the API are of one version, so the answer has the declared type and is not checked.
 */
export async function callApi<Of extends Address>(
  address: Of,
  parameters: ParametersOf<Of>,
  body?: InputOf<Of>,
): Promise<AnswerOf<Of>> {
  const answer = await send(address, parameters, body);
  const value = answer.status === 204 ? undefined : await answer.json().catch(() => null);
  if (answer.ok && value !== null) return value;
  const { code = 'unavailable', message = `The service answered with the status ${answer.status}.` } =
    value ?? {};
  if (code === 'session_missing' && address !== 'POST /sign-in')
    for (const listener of onSignedOut) listener();
  throw new ApiFailure(code, message);
}

async function send(address: Address, parameters: object, body: object | undefined): Promise<Response> {
  const [method = ''] = address.split(' ');
  try {
    return await fetch(`./console/api${formatPath(address, parameters)}`, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      ...(body !== undefined && { body: writeBody(body) }),
    });
  } catch {
    throw new ApiFailure('unreachable', unreachable);
  }
}

/**
 * Returns the path of an address with its parameters. Those that the path does not name become the query, except `back`, which
 * is only of the page (`QueryOf`).
 */
export function formatPath(address: Address, parameters: object): string {
  const [, template = ''] = address.split(' ');
  const isInPath = (name: string) => template.includes(`{${name}}`);
  const given = Object.entries(parameters).filter(([name]) => name !== 'back');
  const path = given
    .filter(([name]) => isInPath(name))
    .reduce((text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)), template);
  return path + formatQuery(Object.fromEntries(given.filter(([name]) => !isInPath(name))));
}

/** Writes an object as JSON, and its bigints with all their digits. */
function writeBody(body: object): string {
  const given = Object.entries(body).filter(([, value]) => value !== undefined);
  const members = given.map(([name, value]) => {
    const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value);
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${members.join()}}`;
}

/** Returns a query string. Omits undefined and empty values. */
export function formatQuery(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  const texts = given.map(([name, value]) => [name, String(value)]);
  return texts.length === 0 ? '' : `?${new URLSearchParams(texts)}`;
}
