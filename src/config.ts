import { secondMs } from './clock.ts';
import { OperatorError, reasonOf } from './errors.ts';
import {
  loopback,
  oneOf,
  parseConsoleUrl,
  parseDatabaseUrl,
  parseHost,
  parseNetworks,
  parseOrigins,
  parsePort,
  parsePublicUrl,
  parseRedisUrl,
  parseSeconds,
  parseSecretKeys,
  parseTrustProxy,
  type TrustProxy,
} from './setting-values.ts';

/** The kinds of installation (contract section 8). */
export const environments = ['development', 'staging', 'production'] as const;
/** One of `environments`. */
export type Environment = (typeof environments)[number];

/** The severities of log lines, lowest first. `silent` logs nothing. */
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
/** One of `logLevels`. */
export type LogLevel = (typeof logLevels)[number];

/** The configuration of the service. docs/settings.md lists the same settings, and a test compares the two. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly opsHost: string;
  readonly opsPort: number;
  readonly environment: Environment;
  /** Base address that clients see, ending in `/v1`. If null, links are path-absolute. */
  readonly publicUrl: string | null;
  readonly databaseUrl: string;
  /** If null, this process counts alone and keeps its counts in the database. */
  readonly redisUrl: string | null;
  /** Time in ms after SIGTERM in which requests are served as before, while `/readyz` is 503. */
  readonly drainMs: number;
  readonly trustProxy: TrustProxy;
  readonly logLevel: LogLevel;
  readonly logRequests: 'errors' | 'all';
  /** Origins whose pages may call the service from a browser. */
  readonly corsOrigins: readonly string[];
  /**
   * Address of the console in a browser, ending in `/console`. If null, only loopback addresses reach the console.
   */
  readonly consoleUrl: string | null;
  /** Networks that may receive webhooks although their addresses are not public. */
  readonly webhookAllowNetworks: readonly string[];
  /**
   * Keys of 32 bytes each. The first key encrypts webhook secrets, and every key decrypts them. If empty, secrets are
   * stored in plain text.
   */
  readonly webhookSecretKeys: readonly Uint8Array[];
}

/** One setting: the parser of its text, and its row in the documentation. */
interface Setting<T> {
  readonly type: string;
  /** The text that is used if the variable is unset. Null if there is no default. */
  readonly default: string | null;
  readonly sentence: string;
  /** Throws RangeError. The message completes the sentence "NAME must be …". */
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
  HOST: setting('address', '127.0.0.1', 'Address that the public port listens on.', parseHost),
  PORT: setting('port', '8080', 'Public port; 0 takes a free one.', parsePort),
  OPS_HOST: setting('address', '127.0.0.1', "Address that the operator's port listens on.", parseHost),
  OPS_PORT: setting('port', '8081', "Operator's port; 0 takes a free one.", parsePort),
  ENVIRONMENT: setting(
    environments.join(' | '),
    'development',
    'The kind of installation. Keys issued here contain it (`dev`, `stg`, `live`).',
    oneOf(environments),
  ),
  PUBLIC_URL: setting(
    'URL',
    null,
    'Base address that clients see, ending in `/v1`. Unset: links are path-absolute.',
    parsePublicUrl,
  ),
  DATABASE_URL: setting(
    'URL',
    'sqlite:./data/animal-store.db',
    'The store: `sqlite:` with a file, or `postgres://` with one or several hosts.',
    parseDatabaseUrl,
  ),
  REDIS_URL: setting(
    'URL',
    null,
    'Redis or Valkey where instances share their counts: `redis://`, or `redis+sentinel://` with the Sentinels and the name of the master. Unset: the process counts alone and keeps its counts in the store.',
    parseRedisUrl,
  ),
  DRAIN_SECONDS: setting(
    'seconds',
    '0',
    'Time after SIGTERM in which requests are served as before, while `/readyz` is 503. Then the shutdown begins.',
    parseSeconds,
  ),
  TRUST_PROXY: setting(
    'false | count | addresses',
    'false',
    'Number of proxies in front of the service, or their addresses and networks (comma-separated). Their `X-Forwarded-For` is trusted.',
    parseTrustProxy,
  ),
  LOG_LEVEL: setting(logLevels.join(' | '), 'info', 'Lowest severity that is logged.', oneOf(logLevels)),
  LOG_REQUESTS: setting(
    'errors | all',
    null,
    'Which requests are logged: all, or only slow ones and those that failed with 5xx. Unset: `all` in development, else `errors`.',
    oneOf(['errors', 'all'] as const),
  ),
  CORS_ORIGINS: setting(
    'origins',
    '',
    'Origins (comma-separated) whose pages may call the service from a browser. Empty: none.',
    parseOrigins,
  ),
  CONSOLE_URL: setting(
    'URL',
    null,
    'Address of the console in a browser, ending in `/console`. Unset: only loopback addresses reach the console.',
    parseConsoleUrl,
  ),
  WEBHOOK_ALLOW_NETWORKS: setting(
    'networks',
    null,
    'Addresses and networks (comma-separated) that may receive webhooks although they are not global. Unset: loopback in development, else none.',
    parseNetworks,
  ),
  WEBHOOK_SECRET_KEY: setting(
    'keys',
    null,
    'Key that encrypts webhook secrets in the store: 32 bytes in base64, then any former keys (comma-separated). Unset: secrets are stored in plain text.',
    parseSecretKeys,
  ),
} as const;

type SettingName = keyof typeof settings;
type Parsed<Name extends SettingName> = ReturnType<(typeof settings)[Name]['parse']>;
type Values = { readonly [Name in SettingName]: Parsed<Name> };

/**
 * Reads the configuration from environment variables. An empty variable counts as unset. Throws one OperatorError
 * that lists every wrong setting with its rule. The message contains no values, because they may be secrets.
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
      problems.push(`${name} must be ${reasonOf(error)}`);
      return null;
    }
  }

  const names = Object.keys(settings) as SettingName[];
  const values = Object.fromEntries(names.map((name) => [name, read(name)])) as Values;
  if (shareAPort(values)) problems.push('OPS_PORT must differ from PORT');
  if (problems.length > 0) throw new OperatorError(`wrong settings: ${problems.join('; ')}`);
  return toConfig(values);
}

/**
 * Returns true if both servers would listen on the same port of one address. `0.0.0.0` and `::` include every
 * address.
 */
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
    drainMs: values.DRAIN_SECONDS * secondMs,
    trustProxy: values.TRUST_PROXY,
    logLevel: values.LOG_LEVEL,
    logRequests: values.LOG_REQUESTS ?? (values.ENVIRONMENT === 'development' ? 'all' : 'errors'),
    corsOrigins: values.CORS_ORIGINS,
    consoleUrl: values.CONSOLE_URL,
    webhookAllowNetworks:
      values.WEBHOOK_ALLOW_NETWORKS ?? (values.ENVIRONMENT === 'development' ? loopback : []),
    webhookSecretKeys: values.WEBHOOK_SECRET_KEY ?? [],
  };
}
