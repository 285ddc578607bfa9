/** What newer engines hand to a reviver (ECMAScript 2026); the compiler's library does not know it yet. */
interface ReviverContext {
  readonly source?: string;
}

const integer = /^-?\d+$/;

/** Strings, with the colon that makes them a name, and numbers. */
const token = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|-?\d[\d.eE+-]*/g;

const knowsSource = checkSource();

/**
 * Reads JSON without losing a digit: a number that is written as an integer (`42`, not `4.2e1`) becomes a bigint, any
 * other stays a number. Throws SyntaxError for text that is no JSON.
 */
export function parseExactJson(text: string): unknown {
  return knowsSource ? JSON.parse(text, reviveSource) : parseTagged(text);
}

/** The same without the engine's help: strings and integers are told apart by a letter that they are given before. */
export function parseTagged(text: string): unknown {
  // Only what is JSON already can be rewritten safely.
  JSON.parse(text);
  const tagged = text.replace(token, (found: string, string: string | undefined, colon?: string) => {
    if (string === undefined) return integer.test(found) ? `"i${found}"` : found;
    return colon === undefined ? `"s${string}"` : found;
  });
  return JSON.parse(tagged, (_name, value: unknown) => {
    if (typeof value !== 'string') return value;
    return value.startsWith('i') ? BigInt(value.slice(1)) : value.slice(1);
  });
}

/**
 * Writes JSON with bigints as integers, to the digit. As by JSON.stringify `toJSON` says what a date or an address is, and
 * what JSON has no form for is left out; wrapped primitives (`new Number(1)`) and JSON.rawJSON are not known.
 */
export function stringifyExactJson(value: unknown): string {
  return write(represent('', value));
}

function write(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value))
    return `[${value.map((item, index) => write(represent(String(index), item))).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .map(([name, member]) => [name, represent(name, member)] as const)
    .filter(([, member]) => !isLeftOut(member));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`).join(',')}}`;
}

function represent(name: string, value: unknown): unknown {
  const isOfItsOwn = typeof value === 'object' && value !== null && 'toJSON' in value;
  return isOfItsOwn && typeof value.toJSON === 'function' ? value.toJSON(name) : value;
}

function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol';
}

function reviveSource(_name: string, value: unknown, context?: ReviverContext): unknown {
  const source = context?.source;
  return typeof value === 'number' && source !== undefined && integer.test(source) ? BigInt(source) : value;
}

function checkSource(): boolean {
  return typeof JSON.parse('1', reviveSource) === 'bigint';
}
