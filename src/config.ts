import { secondMs } from './clock.ts';
import { OperatorError, reasonOf } from './errors.ts';
import { remoteFileSystemNames } from './file-systems.ts';
import {
  addressEndingIn,
  connectionsDefault,
  loopback,
  oneOf,
  parseConnections,
  parseDatabaseUrl,
  parseHeaderName,
  parseHost,
  parseNetworks,
  parseOrigins,
  parsePort,
  parseRedisUrl,
  parseSeconds,
  parseSecretKeys,
  parseSharedSecret,
  parseTrustProxy,
} from './setting-values.ts';

/** The kinds of installation (contract section 8). */
export const environments = ['development', 'staging', 'production'] as const;
/** One of `environments`. */
export type Environment = (typeof environments)[number];

/** The severities of log lines, lowest first. `silent` logs nothing. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
/** One of `logLevels`. */
export type LogLevel = (typeof logLevels)[number];

/** Which requests are logged: those with status 5xx and slow ones, or all. */
export const requestLogs = ['errors', 'all'] as const;

/** One setting: the name of its value in `Config`, and how its text is read. */
interface Setting<Name extends string = string, T = unknown> {
  readonly name: Name;
  /** Throws RangeError. The message completes the sentence "NAME must be …". */
  readonly parse: (text: string) => T;
  /** The text that is used if the variable is unset, or a function that returns the value. */
  readonly fallback: string | ((environment: Environment) => T);
}

const setting = <const Name extends string, T, U = never>(
  name: Name,
  parse: (text: string) => T,
  fallback: string | ((environment: Environment) => U),
): Setting<Name, T | U> => ({ name, parse, fallback });

const none = () => null;

/** Every setting, by its environment variable. `ENVIRONMENT` comes before those that depend on its value. */
export const settings = {
  HOST: setting('host', parseHost, '127.0.0.1'),
  PORT: setting('port', parsePort, '8080'),
  OPS_HOST: setting('opsHost', parseHost, '127.0.0.1'),
  OPS_PORT: setting('opsPort', parsePort, '8081'),
  ENVIRONMENT: setting('environment', oneOf(environments), 'development'),
  PUBLIC_URL: setting('publicUrl', addressEndingIn('/v1'), none),
  OTHER_ENVIRONMENT_URL: setting('otherEnvironmentUrl', addressEndingIn('/v1'), none),
  DATABASE_URL: setting('databaseUrl', parseDatabaseUrl, 'sqlite:./data/animal-store.db'),
  DATABASE_CONNECTIONS: setting('databaseConnections', parseConnections, String(connectionsDefault)),
  REQUIRE_STORE: setting('requireStore', (text) => oneOf(['true', 'false'])(text) === 'true', 'false'),
  ALLOW_FILE_SYSTEM: setting('allowedFileSystem', oneOf(remoteFileSystemNames), none),
  REDIS_URL: setting('redisUrl', parseRedisUrl, none),
  DRAIN_SECONDS: setting('drainMs', (text) => parseSeconds(text) * secondMs, '0'),
  TRUST_PROXY: setting('trustProxy', parseTrustProxy, 'false'),
  LOG_LEVEL: setting('logLevel', oneOf(logLevels), 'info'),
  LOG_REQUESTS: setting('logRequests', oneOf(requestLogs), (environment) =>
    environment === 'development' ? 'all' : 'errors',
  ),
  CORS_ORIGINS: setting('corsOrigins', parseOrigins, ''),
  CONSOLE_URL: setting('consoleUrl', addressEndingIn('/console'), none),
  CONSOLE_USER_HEADER: setting('consoleUserHeader', parseHeaderName, none),
  CONSOLE_USER_PEERS: setting('consoleUserPeers', parseNetworks, none),
  CONSOLE_USER_SECRET: setting('consoleUserSecret', parseSharedSecret, none),
  WEBHOOK_ALLOW_NETWORKS: setting('webhookAllowNetworks', parseNetworks, (environment) =>
    environment === 'development' ? loopback : [],
  ),
  WEBHOOK_SOURCE_NETWORKS: setting('webhookSourceNetworks', parseNetworks, () => []),
  WEBHOOK_SECRET_KEY: setting('webhookSecretKeys', parseSecretKeys, () => []),
} as const;

type Settings = typeof settings;

/** The configuration of the service: the values of `settings`. */
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
  for (const [variable, { name, parse, fallback }] of Object.entries<Setting>(settings)) {
    const text = variables[variable] || fallback;
    try {
      values[name] = typeof text === 'string' ? parse(text) : text(values['environment'] as Environment);
    } catch (error) {
      problems.push(`${variable} must be ${reasonOf(error)}`);
    }
  }
  const config = values as unknown as Config;
  const { consoleUserHeader, consoleUserPeers, consoleUserSecret } = config;
  const proxy = [consoleUserHeader, consoleUserPeers, consoleUserSecret].filter((value) => value !== null);
  if (problems.length === 0 && proxy.length % 3 !== 0)
    problems.push('CONSOLE_USER_HEADER, CONSOLE_USER_PEERS and CONSOLE_USER_SECRET must be set together');
  if (shareAPort(config)) problems.push('OPS_PORT must differ from PORT');
  if (problems.length > 0) throw new OperatorError(`wrong settings: ${problems.join('; ')}`);
  return config;
}

/** Returns true if both servers would listen on one port of one address. `0.0.0.0` and `::` include every address. */
function shareAPort({ host, port, opsHost, opsPort }: Config): boolean {
  if (port !== opsPort || port === 0) return false;
  return host === opsHost || [host, opsHost].some((one) => one === '0.0.0.0' || one === '::');
}
