/** The third argument of a reviver in newer engines (ECMAScript 2026). The compiler's library does not know it yet. */
interface ReviverContext {
  readonly source?: string;
}

const integer = /^-?\d+$/;

/** Matches numbers, and strings with the colon that makes them a name. */
const token = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|-?\d[\d.eE+-]*/g;

const knowsSource = checkSource();

/**
 * Reads JSON without losing a digit: a number written as an integer (`42`, not `4.2e1`) becomes a bigint, any other
 * stays a number. Throws SyntaxError for text that is not JSON.
 */
export function parseExactJson(text: string): unknown {
  return knowsSource ? JSON.parse(text, reviveSource) : parseTagged(text);
}

/** The same without support of the engine: a letter before each string and integer distinguishes them. */
export function parseTagged(text: string): unknown {
  // Only valid JSON can be rewritten safely.
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
 * Writes JSON with exact bigints. Like JSON.stringify, it uses `toJSON` and omits values without a JSON form. It does
 * not support wrapped primitives (`new Number(1)`) and JSON.rawJSON.
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
  const hasOwnForm = typeof value === 'object' && value !== null && 'toJSON' in value;
  return hasOwnForm && typeof value.toJSON === 'function' ? value.toJSON(name) : value;
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
