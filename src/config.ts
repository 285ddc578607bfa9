import { isIP } from 'node:net';
import { OperatorError } from './errors.ts';

/** What an installation can be for (contract section 8). */
export const environments = ['development', 'staging', 'production'] as const;
/** One of `environments`. */
export type Environment = (typeof environments)[number];

/** How severe a line of the log can be, the least first; `silent` logs nothing. */
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
/** One of `logLevels`. */
export type LogLevel = (typeof logLevels)[number];

/** Which peers may name a client in `X-Forwarded-For`: none, the nearest so many, or those of a list of addresses. */
export type TrustProxy = false | number | readonly string[];

/** What the service runs with. docs/settings.md lists the same settings; a test holds the two together. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly opsHost: string;
  readonly opsPort: number;
  readonly environment: Environment;
  /** The base address that clients see, ending in `/v1`; null makes links path-absolute. */
  readonly publicUrl: string | null;
  readonly databaseUrl: string;
  /** Null: counts are those of this process, kept in the database. */
  readonly redisUrl: string | null;
  readonly trustProxy: TrustProxy;
  readonly logLevel: LogLevel;
  readonly logRequests: 'errors' | 'all';
  /** Origins whose pages may call from a browser. */
  readonly corsOrigins: readonly string[];
}

/** One setting: how its text is read and what a reader of the documentation is told. */
interface Setting<T> {
  readonly type: string;
  /** The text that stands for an unset variable; null where it has no default. */
  readonly default: string | null;
  readonly sentence: string;
  /** Throws a RangeError that says what the value must be. */
  readonly parse: (text: string) => T;
}

function setting<T>(
  type: string,
  fallback: string | null,
  sentence: string,
  parse: (text: string) => T,
): Setting<T> {
  return { type, default: fallback, sentence, parse };
}

/** Every setting of the service, by its environment variable (contract section 8). */
export const settings = {
  HOST: setting('address', '127.0.0.1', 'Where the public surface listens.', parseHost),
  PORT: setting('port', '8080', 'Port of the public surface; 0 takes a free one.', parsePort),
  OPS_HOST: setting('address', '127.0.0.1', "Where the operator's surface listens.", parseHost),
  OPS_PORT: setting('port', '8081', "Port of the operator's surface; 0 takes a free one.", parsePort),
  ENVIRONMENT: setting(
    environments.join(' | '),
    'development',
    'What this installation is for; it stands in the keys issued here (`dev`, `stg`, `live`).',
    oneOf(environments),
  ),
  PUBLIC_URL: setting(
    'URL',
    null,
    'The base address that clients see, ending in `/v1`; unset, links are path-absolute.',
    parsePublicUrl,
  ),
  DATABASE_URL: setting(
    'URL',
    'sqlite:./data/animal-store.db',
    'The store: `sqlite:` with a file, or `postgres://`.',
    parseDatabaseUrl,
  ),
  REDIS_URL: setting(
    'URL',
    null,
    'The Redis or Valkey where instances share their counts; unset, one process counts for itself and keeps its counts in the store.',
    parseRedisUrl,
  ),
  TRUST_PROXY: setting(
    'false | count | addresses',
    'false',
    'How many proxies stand in front, or their addresses and networks (comma-separated), whose `X-Forwarded-For` is believed.',
    parseTrustProxy,
  ),
  LOG_LEVEL: setting(
    logLevels.join(' | '),
    'info',
    'The least severe line that is logged.',
    oneOf(logLevels),
  ),
  LOG_REQUESTS: setting(
    'errors | all',
    null,
    'Which requests are logged: those that failed with 5xx or were slow, or all. Unset: `all` in development, else `errors`.',
    oneOf(['errors', 'all'] as const),
  ),
  CORS_ORIGINS: setting(
    'origins',
    '',
    'Origins (comma-separated) whose pages may call from a browser; none when empty.',
    parseOrigins,
  ),
} as const;

type SettingName = keyof typeof settings;
type Parsed<Name extends SettingName> = ReturnType<(typeof settings)[Name]['parse']>;
type Values = { readonly [Name in SettingName]: Parsed<Name> };

/**
 * Reads the configuration from an environment. Throws one OperatorError that names every setting that is wrong and
 * the rule that it breaks; an empty variable counts as unset. A value is never shown, as it may be a secret.
 */
export function parseConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];

  function read<Name extends SettingName>(name: Name): Parsed<Name> | null {
    const { parse, default: fallback } = settings[name] as Setting<Parsed<Name>>;
    const text = environment[name] || fallback;
    if (text === null) return null;
    try {
      return parse(text);
    } catch (error) {
      problems.push(`${name} must be ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  }

  const names = Object.keys(settings) as SettingName[];
  const values = Object.fromEntries(names.map((name) => [name, read(name)])) as Values;
  if (shareAPort(values)) problems.push('OPS_PORT must be another port than PORT');
  if (problems.length > 0) throw new OperatorError(`wrong settings: ${problems.join('; ')}`);
  return toConfig(values);
}

/** Whether both surfaces are to listen on one port of one address; an unspecified address is every one. */
function shareAPort({ HOST, PORT, OPS_HOST, OPS_PORT }: Values): boolean {
  const hosts = [HOST, OPS_HOST];
  return (
    PORT === OPS_PORT && PORT > 0 && (HOST === OPS_HOST || hosts.includes('0.0.0.0') || hosts.includes('::'))
  );
}

function toConfig(values: Values): Config {
  return {
    host: values.HOST,
    port: values.PORT,
    opsHost: values.OPS_HOST,
    opsPort: values.OPS_PORT,
    environment: values.ENVIRONMENT,
    publicUrl: values.PUBLIC_URL,
    databaseUrl: values.DATABASE_URL,
    redisUrl: values.REDIS_URL,
    trustProxy: values.TRUST_PROXY,
    logLevel: values.LOG_LEVEL,
    logRequests: values.LOG_REQUESTS ?? (values.ENVIRONMENT === 'development' ? 'all' : 'errors'),
    corsOrigins: values.CORS_ORIGINS,
  };
}

function parseHost(text: string): string {
  if (isIP(text) !== 0 || /^[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?$/.test(text)) return text;
  throw new RangeError('an IP address or a host name');
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new RangeError('a whole number from 0 to 65535');
}

function oneOf<const Choice extends string>(choices: readonly Choice[]) {
  return (text: string): Choice => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice === undefined) throw new RangeError(`one of ${choices.join(', ')}`);
    return choice;
  };
}

function parsePublicUrl(text: string): string | null {
  const url = URL.parse(text);
  const isBase = url !== null && /^https?:$/.test(url.protocol) && url.pathname.endsWith('/v1');
  if (!isBase || /[?#]/.test(text) || url.username !== '' || url.password !== '')
    throw new RangeError('an http or https address that ends in /v1, without query, fragment or password');
  return url.href;
}

function parseDatabaseUrl(text: string): string {
  if (/^sqlite:(?!:memory:$|file:)./.test(text)) return text;
  if (/^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new RangeError('sqlite: with a file, or a postgres:// address');
}

function parseRedisUrl(text: string): string {
  const url = URL.parse(text);
  const isServer = url !== null && /^rediss?:$/.test(url.protocol) && url.hostname !== '';
  if (isServer && /^(?:\/\d*)?$/.test(url.pathname) && [url.username, url.password].every(isDecodable))
    return text;
  throw new RangeError('a redis:// or rediss:// address, whose path, if any, is the number of a database');
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function parseTrustProxy(text: string): TrustProxy {
  if (text === 'false') return false;
  if (/^\d{1,2}$/.test(text)) return Number(text) === 0 ? false : Number(text);
  const addresses = text.split(',').map((part) => part.trim());
  if (addresses.every(isNetwork)) return addresses;
  throw new RangeError(
    'false, the number of proxies, or a comma-separated list of addresses and networks, but not of all addresses (/0)',
  );
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= (version === 4 ? 32 : 128);
}

function parseOrigins(text: string): readonly string[] {
  const origins = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const areOrigins = origins.every(
    (origin) => /^https?:/.test(origin) && URL.parse(origin)?.origin === origin,
  );
  if (!areOrigins) throw new RangeError('a comma-separated list of origins such as https://app.example.com');
  return origins;
}
