import { isIP } from 'node:net';
import { isPostgresUrl, requirePostgresUrl } from './postgres-address.ts';

// Every parser in this file throws RangeError. The message completes the sentence "NAME must be …".

/** The peers whose `X-Forwarded-For` is trusted: none, the nearest N proxies, or a list of addresses and networks. */
export type TrustProxy = false | number | readonly string[];

export function parseHost(text: string): string {
  if (isIP(text) !== 0 || /^[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?$/.test(text)) return text;
  throw new RangeError('an IP address or a host name');
}

/** Returns a parser of whole numbers from `min` to `max`, without more digits than `max` has. */
function wholeNumber(of: string, max: number, min = 0) {
  return (text: string): number => {
    const number = /^\d+$/.test(text) && text.length <= String(max).length ? Number(text) : -1;
    if (number >= min && number <= max) return number;
    throw new RangeError(`a whole number${of} from ${min} to ${max}`);
  };
}

/** 0 means any free port. */
export const parsePort = wholeNumber('', 65_535);
export const parseSeconds = wholeNumber(' of seconds', 3_600);
/** Maximum number of connections of one instance to PostgreSQL, unless a setting says otherwise. */
export const connectionsDefault = 10;
/** At least one that reads, one that writes, and one that asks the server what it is. */
export const parseConnections = wholeNumber('', 100, 3);

/** Returns a parser that accepts only these words. */
export function oneOf<const Choice extends string>(choices: readonly Choice[]) {
  return (text: string): Choice => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice === undefined) throw new RangeError(`one of ${choices.join(', ')}`);
    return choice;
  };
}

/** Returns a parser of addresses with this ending. */
export function addressEndingIn(ending: string) {
  return (text: string): string => {
    const url = URL.parse(text);
    const isBase = url !== null && /^https?:$/.test(url.protocol) && url.pathname.endsWith(ending);
    if (isBase && !/[?#]/.test(text) && url.username === '' && url.password === '') return url.href;
    throw new RangeError(
      `an http or https address that ends in ${ending}, without query, fragment or password`,
    );
  };
}

export function parseDatabaseUrl(text: string): string {
  if (isSqliteAddress(text)) return text;
  if (isPostgresUrl(text)) {
    requirePostgresUrl(text);
    return text;
  }
  throw new RangeError(
    '"sqlite:" and the path of a file, which does not begin with // or ~ and has no ? and no control character, or a postgres:// address, whose password, if any, is percent-encoded',
  );
}

/**
 * SQLite and shells would read `~`, `//` and `?` in other ways, and the store would be an empty file with a strange name.
 * With `:memory:`, each connection would have its own database, and only SQLite understands `file:`.
 */
export function isSqliteAddress(text: string): boolean {
  return /^sqlite:(?!:memory:$|file:|~|\/\/)[^?\p{Cc}]+$/u.test(text);
}

export function parseRedisUrl(text: string): string {
  if (text.startsWith(sentinelScheme)) {
    if (parseSentinelAddress(text) !== null) return text;
    throw new RangeError(
      'a redis+sentinel:// address with each Sentinel once, as host or host:port, and the name of the master as its path, such as redis+sentinel://s1:26379,s2:26379/mymaster',
    );
  }
  const url = URL.parse(text);
  const isServer = url !== null && /^rediss?:$/.test(url.protocol) && url.hostname !== '';
  // A password with a `/`, `?` or `#` that is not percent-encoded ends in an `@` behind what looks like the host. The host
  // and the path of such an address contain parts of the password and must not be shown.
  const isEncoded = !/^[^/?#]*\/\/[^/?#]*[/?#].*@/s.test(text);
  const hasDatabase = /^(?:\/\d*)?$/.test(url?.pathname ?? '');
  const isReadable = isServer && isEncoded && hasDatabase;
  if (isReadable && [url.username, url.password].every(isDecodable)) return text;
  throw new RangeError(
    'a redis://, rediss:// or redis+sentinel:// address, whose password, if any, is percent-encoded, and whose path, if any, is the number of a database',
  );
}

const sentinelScheme = 'redis+sentinel://';
const sentinelPort = 26_379;

/** Sentinels, the name of the master that they watch, and how to sign in to that master. */
export interface SentinelAddress {
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly name: string;
  readonly username?: string;
  readonly password?: string;
}

/** Parses `redis+sentinel://user:password@host:port,host:port/name`. Returns null for any other text. */
export function parseSentinelAddress(text: string): SentinelAddress | null {
  const [, credentials = '', hosts = '', name = ''] =
    /^redis\+sentinel:\/\/(?:([^@/]*)@)?([^@/?#]+)\/([\w.-]+)$/.exec(text) ?? [];
  const nodes = hosts.split(',').map((host) => {
    const node = URL.parse(`redis://${host}`);
    const hostname = node?.hostname.replace(/^\[|\]$/g, '') ?? '';
    return { host: hostname, port: Number(node?.port || sentinelPort) };
  });
  const isComplete = nodes.every(({ host, port }) => host !== '' && port > 0);
  const isUnique = new Set(nodes.map(({ host, port }) => `${host}:${port}`)).size === nodes.length;
  const [username = '', password = ''] = credentials.split(':');
  if (name === '' || !isComplete || !isUnique || ![username, password].every(isDecodable)) return null;
  return {
    nodes,
    name,
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
  };
}

/** Returns the hosts of an address of Redis, without its password. */
export function showRedisHosts(url: string): string {
  const sentinels = parseSentinelAddress(url);
  if (sentinels === null) return new URL(url).host;
  return sentinels.nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

export function parseTrustProxy(text: string): TrustProxy {
  if (text === 'false') return false;
  if (/^\d{1,2}$/.test(text)) return Number(text) === 0 ? false : Number(text);
  const addresses = splitList(text);
  if (addresses.every(isNetwork)) return addresses;
  throw new RangeError(`false, the number of proxies, or ${networksRule}`);
}

export const loopback = ['127.0.0.0/8', '::1'] as const;

const networksRule = 'a comma-separated list of addresses and networks, but not of all addresses (/0)';

export function parseNetworks(text: string): readonly string[] {
  const networks = splitList(text);
  if (networks.every(isNetwork)) return networks;
  throw new RangeError(networksRule);
}

function splitList(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

const secretKeyBytes = 32;

export function parseSecretKeys(text: string): readonly Uint8Array[] {
  const texts = splitList(text);
  const keys = texts.map((part) => Buffer.from(part, 'base64'));
  if (keys.every((key, index) => key.length === secretKeyBytes && key.toString('base64') === texts[index]))
    return keys;
  const one = `${secretKeyBytes} bytes in base64, as "openssl rand -base64 ${secretKeyBytes}" prints`;
  throw new RangeError(`${one}, or a comma-separated list of such keys`);
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= (version === 4 ? 32 : 128);
}

/** A name of a header, in lower case, that no client of HTTP sets for another purpose. */
export function parseHeaderName(text: string): string {
  const name = text.toLowerCase();
  if (/^[a-z0-9-]{1,100}$/.test(name) && !takenHeaders.has(name)) return name;
  throw new RangeError('the name of a header such as X-Forwarded-User, and none that HTTP itself uses');
}

const takenHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'host',
  'origin',
  'x-forwarded-for',
]);

const sharedSecretLengthMin = 32;

export function parseSharedSecret(text: string): string {
  if (text.length >= sharedSecretLengthMin && /^[!-~]{1,255}$/.test(text)) return text;
  throw new RangeError(
    `${sharedSecretLengthMin} to 255 visible ASCII characters, as "openssl rand -base64 ${sharedSecretLengthMin}" prints`,
  );
}

export function parseOrigins(text: string): readonly string[] {
  const origins = splitList(text).filter((part) => part !== '');
  const isOrigin = (text: string) => /^https?:[^*]+$/.test(text) && URL.parse(text)?.origin === text;
  if (origins.every(isOrigin)) return origins;
  throw new RangeError('a comma-separated list of origins such as https://app.example.com, without *');
}
