import { type RequestExample, writeTarget } from './request-example.ts';

const success: Readonly<Record<RequestExample['answer'], string>> = {
  list: 'for item in json.load(response):\n        print(item)',
  object: 'print(json.load(response))',
  nothing: 'print(response.status)',
};

/** Writes a request as a Python 3 program that uses only the standard library. */
export function writePython(request: RequestExample, baseUrl: string): string {
  const { method, body, isIdempotent, answer } = request;
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
    ...(body === null ? [] : [`    data=json.dumps(${writeLiteral(body.value)}).encode(),`]),
    ')',
    'with urllib.request.urlopen(request) as response:',
    `    ${success[answer]}`,
  ];
  return lines.join('\n');
}

/** Writes a JSON value as a Python literal. An int64 needs no special form, because Python integers are unbounded. */
function writeLiteral(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return typeof value === 'string' ? JSON.stringify(value) : String(value);
  if (Array.isArray(value)) return `[${value.map(writeLiteral).join(', ')}]`;
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${writeLiteral(member)}`,
  );
  return `{${members.join(', ')}}`;
}

function isText(part: string | false | null): part is string {
  return typeof part === 'string';
}
