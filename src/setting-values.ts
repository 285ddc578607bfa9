import { isIP } from 'node:net';

// Every parser here throws RangeError; its message says what the value must be.

/** Which peers are trusted to set `X-Forwarded-For`: none, the nearest N proxies, or a list of addresses. */
export type TrustProxy = false | number | readonly string[];

/** An IP address or a host name. */
export function parseHost(text: string): string {
  if (isIP(text) !== 0 || /^[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?$/.test(text)) return text;
  throw new RangeError('an IP address or a host name');
}

/** A port. 0 takes a free one. */
export function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new RangeError('a whole number from 0 to 65535');
}

/** One of a list of words. */
export function oneOf<const Choice extends string>(choices: readonly Choice[]) {
  return (text: string): Choice => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice === undefined) throw new RangeError(`one of ${choices.join(', ')}`);
    return choice;
  };
}

/** A URL that ends in `/v1`. */
export function parsePublicUrl(text: string): string | null {
  return parseAddress(text, '/v1');
}

/** A URL that ends in `/console`. */
export function parseConsoleUrl(text: string): string | null {
  return parseAddress(text, '/console');
}

function parseAddress(text: string, ending: string): string {
  const url = URL.parse(text);
  const isBase = url !== null && /^https?:$/.test(url.protocol) && url.pathname.endsWith(ending);
  if (!isBase || /[?#]/.test(text) || url.username !== '' || url.password !== '')
    throw new RangeError(
      `an http or https address that ends in ${ending}, without query, fragment or password`,
    );
  return url.href;
}

/** The URL of a store. */
export function parseDatabaseUrl(text: string): string {
  if (/^sqlite:(?!:memory:$|file:)./.test(text)) return text;
  if (/^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new RangeError('sqlite: with a file, or a postgres:// address');
}

/** The URL of a Redis. */
export function parseRedisUrl(text: string): string {
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

/** The trusted proxies. */
export function parseTrustProxy(text: string): TrustProxy {
  if (text === 'false') return false;
  if (/^\d{1,2}$/.test(text)) return Number(text) === 0 ? false : Number(text);
  const addresses = text.split(',').map((part) => part.trim());
  if (addresses.every(isNetwork)) return addresses;
  throw new RangeError(
    'false, the number of proxies, or a comma-separated list of addresses and networks, but not of all addresses (/0)',
  );
}

/** The loopback networks. */
export const loopback = ['127.0.0.0/8', '::1'] as const;

/** A comma-separated list of addresses and networks. */
export function parseNetworks(text: string): readonly string[] {
  const networks = text.split(',').map((part) => part.trim());
  if (networks.every(isNetwork)) return networks;
  throw new RangeError('a comma-separated list of addresses and networks, but not of all addresses (/0)');
}

const secretKeyBytes = 32;

/** A comma-separated list of keys, each 32 bytes in base64. */
export function parseSecretKeys(text: string): readonly Uint8Array[] {
  const texts = text.split(',').map((part) => part.trim());
  const keys = texts.map((part) => Buffer.from(part, 'base64'));
  if (keys.every((key, index) => key.length === secretKeyBytes && key.toString('base64') === texts[index]))
    return keys;
  throw new RangeError(
    `${secretKeyBytes} bytes in base64, as "openssl rand -base64 ${secretKeyBytes}" prints, or a comma-separated list of such keys`,
  );
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= (version === 4 ? 32 : 128);
}

/** A comma-separated list of origins. */
export function parseOrigins(text: string): readonly string[] {
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
