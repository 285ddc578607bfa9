/** Where the time of a request goes, in the order in which a request meets them. */
export const layers = [
  'socket and HTTP',
  'routing and hooks',
  'key',
  'limit',
  'headers',
  'validation and handler',
  'lookup or write',
  'serialisation',
  'log',
  'garbage collection',
  'kernel and native code outside of calls',
] as const;

export type Layer = (typeof layers)[number];

/** One place of a profile. */
export interface Place {
  readonly functionName: string;
  readonly url: string;
}

interface Rule {
  readonly layer: Layer;
  readonly url: RegExp;
  readonly functionName?: RegExp;
}

const headerFunctions =
  /^(header|headers|setHeader|getHeader|hasHeader|removeHeader|appendHeader|writeHead|_storeHeader|processHeader|storeHeader|writeHeaders)$/;

/** The first that fits decides. What fits none, such as a builtin or node:crypto, belongs to its caller. */
const rules: readonly Rule[] = [
  { layer: 'headers', url: /\/src\/http\/head\.ts$/ },
  { layer: 'headers', url: /node:_http|\/fastify\/|\/src\/http\//, functionName: headerFunctions },
  {
    layer: 'socket and HTTP',
    url: /^node:(_http|net$|http$|stream|internal\/(http|streams|stream_base|timers))/,
  },
  {
    layer: 'log',
    url: /\/node_modules\/(pino|sonic-boom|quick-format|thread-stream)|\/observability\/|request-log/,
  },
  {
    layer: 'serialisation',
    url: /fast-json-stringify|\/(exact-json|conditional|etag|[a-z-]*text|[a-z-]*seriali[sz]\w*)\.ts$/,
  },
  { layer: 'key', url: /\/src\/accounts\/|\/authenticate\.ts$/ },
  { layer: 'limit', url: /\/src\/(limits|plans)\/|\/(arrival|rate-limit)\.ts$/ },
  { layer: 'lookup or write', url: /\/src\/(pets|storage)\/|\/node_modules\/(kysely|better-sqlite3)\// },
  { layer: 'validation and handler', url: /\/src\/|secure-json-parse|\/node_modules\/(ajv|typebox)\// },
  { layer: 'routing and hooks', url: /\/node_modules\// },
];

/** The layer of a place in a profile; null where it is its caller's. */
export function findLayer({ functionName, url }: Place): Layer | null {
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(program)') return 'kernel and native code outside of calls';
  // The functions that fast-json-stringify generates have no address.
  if (url === '' && /^anonymous\d+$/.test(functionName)) return 'serialisation';
  const rule = rules.find((one) => one.url.test(url) && (one.functionName?.test(functionName) ?? true));
  return rule?.layer ?? null;
}
