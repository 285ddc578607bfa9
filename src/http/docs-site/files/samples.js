/*
 * Writes a request as a complete program in each language. The service writes the samples of the pages with it, and
 * the browser writes them again when the reader fills in the form. A program reads the key from ANIMAL_STORE_KEY.
 */

/** Matches the tokens of JSON. Numbers are never parsed, so that they keep all digits. */
const jsonToken = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Formats JSON by its tokens. Numbers are not parsed, so they keep all digits. */
function formatJsonText(text) {
  let indent = '';
  let result = '';
  let last = '';
  for (const [part] of text.matchAll(jsonToken)) {
    if (/^[}\]]$/.test(part)) {
      indent = indent.slice(2);
      if (!/^[{[]$/.test(last)) result += `\n${indent}`;
    } else if (/^[{[,]$/.test(last)) result += `\n${indent}`;
    result += part === ':' ? ': ' : part;
    if (/^[{[]$/.test(part)) indent += '  ';
    last = part;
  }
  return result;
}

/** Rewrites JSON in another notation, token by token. `notation` has functions for keys, texts and other values. */
function rewriteJson(text, { open, close, writeKey, writeText, writeWord }) {
  const tokens = text.match(jsonToken);
  const written = tokens.map((part, index) => {
    if (part === '{') return tokens[index + 1] === '}' ? '{' : open;
    if (part === '}') return tokens[index - 1] === '{' ? '}' : close;
    if (part === ',' || part === ':') return `${part} `;
    if (!part.startsWith('"')) return writeWord(part);
    return tokens[index + 1] === ':' ? writeKey(part) : writeText(part);
  });
  return written.join('');
}

/** Returns the percent-encoded path and query of a request. */
export function writeTarget({ path, values }) {
  const inPlace = (place) => values.filter((value) => value.place === place);
  const filled = inPlace('path').reduce(
    (text, { name, value }) => text.replace(`{${name}}`, () => encodeURIComponent(value)),
    path,
  );
  const query = inPlace('query').map(({ name, value }) => `${name}=${encodeURIComponent(value)}`);
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
}

function listHeaders({ isIdempotent, values }) {
  const given = values.filter(({ place }) => place === 'header');
  const hasKey = given.some(({ name }) => name === 'Idempotency-Key');
  return { given, makesKey: isIdempotent && !hasKey };
}

function quote(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const jsonLineLengthMax = 28;

/** Writes the body of a command on one line, or on several if it is long. */
function writeBody(text) {
  const line = text.match(jsonToken).join('');
  return line.length > jsonLineLengthMax ? formatJsonText(text) : line;
}

function writeCurl(request) {
  const { method, baseUrl, body } = request;
  const { given, makesKey } = listHeaders(request);
  const isUsual = method === (body === null ? 'GET' : 'POST');
  const parts = [
    `curl -sS --fail-with-body${isUsual ? '' : ` -X ${method}`}`,
    quote(baseUrl + writeTarget(request)),
    '-H "Authorization: Bearer $ANIMAL_STORE_KEY"',
    ...(makesKey ? ['-H "Idempotency-Key: $(openssl rand -hex 16)"'] : []),
    ...given.map(({ name, value }) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`-H 'Content-Type: ${body.type}'`, `-d ${quote(writeBody(body.text))}`]),
  ];
  return parts.join(' \\\n  ');
}

const pythonLoop = 'for item in json.load(response):\n            print(item)';
const pythonUses = {
  list: pythonLoop,
  array: pythonLoop,
  object: 'print(json.load(response))',
  nothing: 'print(response.status)',
};
const pythonWords = { null: 'None', true: 'True', false: 'False' };
const normalise = (text) => JSON.stringify(JSON.parse(text));
const python = {
  open: '{',
  close: '}',
  writeKey: normalise,
  writeText: normalise,
  writeWord: (word) => pythonWords[word] ?? word,
};

/** Writes a Python 3 program that uses only the standard library. */
function writePython(request) {
  const { method, baseUrl, body, answer } = request;
  const { given, makesKey } = listHeaders(request);
  return [
    'import json',
    'import os',
    'import urllib.error',
    'import urllib.request',
    ...(makesKey ? ['import uuid'] : []),
    '',
    'request = urllib.request.Request(',
    `    ${JSON.stringify(baseUrl + writeTarget(request))},`,
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    '    headers={',
    `        "Authorization": f"Bearer {os.environ['ANIMAL_STORE_KEY']}",`,
    ...(body === null ? [] : [`        "Content-Type": "${body.type}",`]),
    ...(makesKey ? ['        "Idempotency-Key": str(uuid.uuid4()),'] : []),
    ...given.map(({ name, value }) => `        "${name}": ${JSON.stringify(value)},`),
    '    },',
    ...(body === null ? [] : [`    data=json.dumps(${rewriteJson(body.text, python)}).encode(),`]),
    ')',
    'try:',
    '    with urllib.request.urlopen(request) as response:',
    `        ${pythonUses[answer]}`,
    'except urllib.error.HTTPError as error:',
    '    raise SystemExit(json.load(error)["code"])',
  ].join('\n');
}

function writeNumber(text) {
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text)) ? `${text}n` : text;
}

const writeText = (text) => `'${JSON.stringify(text).slice(1, -1).replaceAll("'", "\\'")}'`;
const typeScript = {
  open: '{ ',
  close: ' }',
  writeKey: (text) => (/^"[A-Za-z]\w*"$/.test(text) ? text.slice(1, -1) : normalise(text)),
  writeText: (text) => writeText(JSON.parse(text)),
  writeWord: writeNumber,
};
const typeScriptUses = {
  nothing: (call) => [`await ${call};`],
  list: (call) => [`const page = await ${call};`, 'for (const item of page.items) console.log(item);'],
  array: (call) => [`for (const item of await ${call}) console.log(item);`],
  object: (call) => [`const found = await ${call};`, 'console.log(found);'],
};
/** The options of the client for headers. The client sets the other headers itself. */
const headerOptions = { 'Idempotency-Key': 'idempotencyKey', 'If-Match': 'ifMatch' };

function writeValue({ kind, value }) {
  const isNumber = /^-?\d+(?:,-?\d+)*$/.test(value);
  if (kind === 'numbers' && isNumber) return `[${value.split(',').map(writeNumber).join(', ')}]`;
  if (kind === 'texts') return `[${value.split(',').map(writeText).join(', ')}]`;
  return kind === 'number' && isNumber ? writeNumber(value) : writeText(value);
}

/** Writes a program with our client. */
function writeTypeScript({ baseUrl, call, values, body, answer }) {
  const options = values.flatMap((given) => {
    const name = given.place === 'query' ? given.name : headerOptions[given.name];
    return given.place === 'path' || name === undefined ? [] : [`${name}: ${writeValue(given)}`];
  });
  const given = [
    ...values.filter(({ place }) => place === 'path').map(writeValue),
    ...(body === null ? [] : [rewriteJson(body.text, typeScript)]),
    ...(options.length === 0 ? [] : [`{ ${options.join(', ')} }`]),
  ];
  return [
    "import { AnimalStore } from '@animal-store/client';",
    '',
    `const client = new AnimalStore({ baseUrl: '${baseUrl}' });`,
    ...typeScriptUses[answer](`client.${call}(${given.join(', ')})`),
  ].join('\n');
}

export function writeSamples(request) {
  return [
    { language: 'curl', code: writeCurl(request) },
    { language: 'TypeScript', code: writeTypeScript(request) },
    { language: 'Python', code: writePython(request) },
  ];
}
