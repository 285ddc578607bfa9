import type { Operation } from '../../operation.ts';
import { jsonTypes } from '../../request/body.ts';
import { listParameters, type Parameter, type Schema } from './parameters.ts';
import { writeTypeScript } from './typescript-sample.ts';

/** A sample request in one language. */
export interface Sample {
  readonly language: 'curl' | 'TypeScript' | 'Python';
  readonly code: string;
}

/** The example request of an operation. */
export interface RequestExample {
  readonly operation: Operation;
  readonly pathValues: readonly Parameter[];
  readonly queryValues: readonly Parameter[];
  /** Null if the operation takes no body. */
  readonly body: { readonly type: string; readonly schema: Schema; readonly value: unknown } | null;
  /** `list` has pages, `array` has none. */
  readonly answer: 'list' | 'array' | 'object' | 'nothing';
}

/**
 * Writes the same request as a complete program in each language. The programs read the key from the environment
 * variable `ANIMAL_STORE_KEY`.
 */
export function writeSamples(operation: Operation, baseUrl: string): readonly Sample[] {
  const request = chooseRequest(operation);
  return [
    { language: 'curl', code: writeCurl(request, baseUrl) },
    { language: 'TypeScript', code: writeTypeScript(request, baseUrl) },
    { language: 'Python', code: writePython(request, baseUrl) },
  ];
}

/**
 * Chooses an example request with all required values. If the operation has `limit` or a filter with fixed values, they
 * are included. A cursor or a position comes from an earlier response, so samples have none.
 */
export function chooseRequest(operation: Operation): RequestExample {
  const { body, bodyTypes = jsonTypes.plain, bodyExamples = {} } = operation;
  const parameters = listParameters(operation);
  return {
    operation,
    pathValues: parameters.filter(({ place }) => place === 'path'),
    queryValues: parameters.filter(
      ({ place, name, schema }) => place === 'query' && (name === 'limit' || schema.enum !== undefined),
    ),
    body:
      body === undefined
        ? null
        : { type: bodyTypes[0] ?? '', schema: body, value: Object.values(bodyExamples)[0]?.value },
    answer: nameAnswer(operation),
  };
}

/** Returns the percent-encoded path and query of a request. */
export function writeTarget({ operation, pathValues, queryValues }: RequestExample): string {
  const filled = pathValues.reduce(
    (text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(String(example))),
    operation.path as string,
  );
  const query = queryValues.map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`);
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
}

function nameAnswer({ answers, query }: Operation): RequestExample['answer'] {
  const body = Object.values(answers)[0]?.body;
  if (body === undefined) return 'nothing';
  if (!('items' in body)) return 'object';
  return query === undefined ? 'array' : 'list';
}

function writeCurl(request: RequestExample, baseUrl: string): string {
  const { operation, body } = request;
  const { method, isIdempotent = false } = operation;
  const isUsual = method === (body === null ? 'GET' : 'POST');
  const parts = [
    `curl -sS --fail-with-body${isUsual ? '' : ` -X ${method}`}`,
    quote(baseUrl + writeTarget(request)),
    '-H "Authorization: Bearer $ANIMAL_STORE_KEY"',
    isIdempotent && '-H "Idempotency-Key: $(openssl rand -hex 16)"',
    body && `-H 'Content-Type: ${body.type}'`,
    body && `-d ${quote(JSON.stringify(body.value))}`,
  ];
  return parts.filter(isText).join(' \\\n  ');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const pythonLoop = 'for item in json.load(response):\n        print(item)';
const pythonUses: Readonly<Record<RequestExample['answer'], string>> = {
  list: pythonLoop,
  array: pythonLoop,
  object: 'print(json.load(response))',
  nothing: 'print(response.status)',
};

/** Writes a Python 3 program that uses only the standard library. */
function writePython(request: RequestExample, baseUrl: string): string {
  const { operation, body, answer } = request;
  const { method, isIdempotent = false } = operation;
  const modules = [
    (body !== null || answer !== 'nothing') && 'json',
    'os',
    'urllib.request',
    isIdempotent && 'uuid',
  ];
  const headers = [
    `"Authorization": f"Bearer {os.environ['ANIMAL_STORE_KEY']}",`,
    body && `"Content-Type": "${body.type}",`,
    isIdempotent && '"Idempotency-Key": str(uuid.uuid4()),',
  ];
  const lines = [
    ...modules.filter(isText).map((name) => `import ${name}`),
    '',
    'request = urllib.request.Request(',
    `    ${JSON.stringify(baseUrl + writeTarget(request))},`,
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    '    headers={',
    ...headers.filter(isText).map((line) => `        ${line}`),
    '    },',
    ...(body === null ? [] : [`    data=json.dumps(${writePythonLiteral(body.value)}).encode(),`]),
    ')',
    'with urllib.request.urlopen(request) as response:',
    `    ${pythonUses[answer]}`,
  ];
  return lines.join('\n');
}

/** Writes a JSON value as a Python literal. Both forms are equal but for three names. */
function writePythonLiteral(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(writePythonLiteral).join(', ')}]`;
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${writePythonLiteral(member)}`,
  );
  return `{${members.join(', ')}}`;
}

function isText(part: string | false | null): part is string {
  return typeof part === 'string';
}
