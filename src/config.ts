import { secondMs } from './clock.ts';
import { OperatorError, reasonOf } from './errors.ts';
import {
  addressEndingIn,
  loopback,
  oneOf,
  parseDatabaseUrl,
  parseHost,
  parseNetworks,
  parseOrigins,
  parsePort,
  parseRedisUrl,
  parseSeconds,
  parseSecretKeys,
  parseTrustProxy,
} from './setting-values.ts';

/** The kinds of installation (contract section 8). */
export const environments = ['development', 'staging', 'production'] as const;
/** One of `environments`. */
export type Environment = (typeof environments)[number];

/** The severities of log lines, lowest first. `silent` logs nothing. */
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
/** One of `logLevels`. */
export type LogLevel = (typeof logLevels)[number];

/** One setting: the name of its value, the parser of its text, and its row in the documentation. */
interface Setting<Name extends string, T> {
  readonly name: Name;
  readonly type: string;
  /** The text that is used if the variable is unset. Null if there is no default. */
  readonly default: string | null;
  readonly sentence: string;
  /** Throws RangeError. The message completes the sentence "NAME must be …". */
  readonly parse: (text: string) => T;
  /** Returns the value if the variable is unset and there is no default. */
  readonly unset: (environment: Environment) => T;
}

function setting<const Name extends string, T, U = never>(
  name: Name,
  type: string,
  fallback: string | null,
  sentence: string,
  parse: (text: string) => T,
  unset: (environment: Environment) => U = neverUnset,
): Setting<Name, T | U> {
  return { name, type, default: fallback, sentence, parse, unset };
}

function neverUnset(): never {
  throw new Error('a setting has neither a default nor a value');
}

/**
 * Every setting of the service, by its environment variable (contract section 8). The value of `ENVIRONMENT` comes
 * before those that depend on it.
 */
export const settings = {
  HOST: setting('host', 'address', '127.0.0.1', 'Address that the public port listens on.', parseHost),
  PORT: setting('port', 'port', '8080', 'Public port; 0 takes a free one.', parsePort),
  OPS_HOST: setting(
    'opsHost',
    'address',
    '127.0.0.1',
    "Address that the operator's port listens on.",
    parseHost,
  ),
  OPS_PORT: setting('opsPort', 'port', '8081', "Operator's port; 0 takes a free one.", parsePort),
  ENVIRONMENT: setting(
    'environment',
    environments.join(' | '),
    'development',
    'The kind of installation. Keys issued here contain it (`dev`, `stg`, `live`).',
    oneOf(environments),
  ),
  PUBLIC_URL: setting(
    'publicUrl',
    'URL',
    null,
    'Base address that clients see, ending in `/v1`. Unset: links are path-absolute.',
    addressEndingIn('/v1'),
    () => null,
  ),
  DATABASE_URL: setting(
    'databaseUrl',
    'URL',
    'sqlite:./data/animal-store.db',
    'The store: `sqlite:` with a file, or `postgres://` with one or several hosts.',
    parseDatabaseUrl,
  ),
  REDIS_URL: setting(
    'redisUrl',
    'URL',
    null,
    'Redis or Valkey where instances share their counts: `redis://`, or `redis+sentinel://` with the Sentinels and the name of the master. Unset: the process counts alone and keeps its counts in the store.',
    parseRedisUrl,
    () => null,
  ),
  DRAIN_SECONDS: setting(
    'drainMs',
    'seconds',
    '0',
    'Time after SIGTERM in which requests are served as before, while `/readyz` is 503. Then the shutdown begins.',
    (text) => parseSeconds(text) * secondMs,
  ),
  TRUST_PROXY: setting(
    'trustProxy',
    'false | count | addresses',
    'false',
    'Number of proxies in front of the service, or their addresses and networks (comma-separated). Their `X-Forwarded-For` is trusted.',
    parseTrustProxy,
  ),
  LOG_LEVEL: setting(
    'logLevel',
    logLevels.join(' | '),
    'info',
    'Lowest severity that is logged.',
    oneOf(logLevels),
  ),
  LOG_REQUESTS: setting(
    'logRequests',
    'errors | all',
    null,
    'Which requests are logged: all, or only slow ones and those that failed with 5xx. Unset: `all` in development, else `errors`.',
    oneOf(['errors', 'all']),
    (environment) => (environment === 'development' ? ('all' as const) : ('errors' as const)),
  ),
  CORS_ORIGINS: setting(
    'corsOrigins',
    'origins',
    '',
    'Origins (comma-separated) whose pages may call the service from a browser. Empty: none.',
    parseOrigins,
  ),
  CONSOLE_URL: setting(
    'consoleUrl',
    'URL',
    null,
    'Address of the console in a browser, ending in `/console`. Unset: only loopback addresses reach the console.',
    addressEndingIn('/console'),
    () => null,
  ),
  WEBHOOK_ALLOW_NETWORKS: setting(
    'webhookAllowNetworks',
    'networks',
    null,
    'Addresses and networks (comma-separated) that may receive webhooks although they are not global. Unset: loopback in development, else none.',
    parseNetworks,
    (environment) => (environment === 'development' ? loopback : []),
  ),
  WEBHOOK_SECRET_KEY: setting(
    'webhookSecretKeys',
    'keys',
    null,
    'Key that encrypts webhook secrets in the store: 32 bytes in base64, then any former keys (comma-separated). Unset: secrets are stored in plain text.',
    parseSecretKeys,
    () => [],
  ),
} as const;

type Settings = typeof settings;

/** The configuration of the service. docs/settings.md lists the same settings, and a test compares the two. */
export type Config = {
  readonly [Variable in keyof Settings as Settings[Variable]['name']]: ReturnType<
    Settings[Variable]['parse']
  >;
};

/**
 * Reads the configuration from environment variables. An empty variable counts as unset. Throws one OperatorError
 * that lists every wrong setting with its rule. The message contains no values, because they may be secrets.
 */
export function parseConfig(variables: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [variable, one] of Object.entries<Setting<string, unknown>>(settings)) {
    const text = variables[variable] || one.default;
    try {
      values[one.name] = text === null ? one.unset(values['environment'] as Environment) : one.parse(text);
    } catch (error) {
      problems.push(`${variable} must be ${reasonOf(error)}`);
    }
  }
  const config = values as unknown as Config;
  if (shareAPort(config)) problems.push('OPS_PORT must differ from PORT');
  if (problems.length > 0) throw new OperatorError(`wrong settings: ${problems.join('; ')}`);
  return config;
}

/**
 * Returns true if both servers would listen on the same port of one address. `0.0.0.0` and `::` include every
 * address.
 */
function shareAPort({ host, port, opsHost, opsPort }: Config): boolean {
  const hosts = [host, opsHost];
  return (
    port === opsPort && port > 0 && (host === opsHost || hosts.includes('0.0.0.0') || hosts.includes('::'))
  );
}
