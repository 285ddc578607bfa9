/** The third argument of a reviver (ECMAScript 2026). TypeScript has no type for it yet. */
interface ReviverContext {
  readonly source?: string;
}

const integer = /^-?\d+$/;

/** Matches a number or a string. A colon after a string shows that the string is a member name. */
const token = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|-?\d[\d.eE+-]*/g;

const knowsSource = checkSource();

/**
 * Parses JSON without losing digits. A number written as an integer (`42`, not `4.2e1`) becomes a bigint. Any other
 * number stays a number. Throws SyntaxError if the text is not JSON.
 */
export function parseExactJson(text: string): unknown {
  return knowsSource ? JSON.parse(text, reviveSource) : parseTagged(text);
}

/** `parseExactJson` for engines without `context.source`. A letter before each string and integer tags its type. */
export function parseTagged(text: string): unknown {
  // Throws SyntaxError first, because the rewrite below is correct only for valid JSON.
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
 * Writes JSON with exact bigints. Like JSON.stringify, it calls `toJSON` and omits values without a JSON form. Wrapped
 * primitives (`new Number(1)`) and JSON.rawJSON are not supported.
 */
export function stringifyExactJson(value: unknown): string {
  return write(represent('', value));
}

function write(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value))
    return `[${Array.from(value, (item, index) => write(represent(String(index), item))).join(',')}]`;
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
