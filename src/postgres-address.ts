/** One host of the address of a PostgreSQL database. */
export interface PostgresHost {
  /** `host:port`. */
  readonly name: string;
  /** The address of the database on this host alone. */
  readonly url: string;
}

const defaultPort = '5432';
const portMax = 65_535;
/** The parameters that an address may have. docs/settings.md has their meanings. */
export const postgresParameters: readonly string[] = [
  'application_name',
  'channel_binding',
  'connect_timeout',
  'host',
  'options',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslrootcert',
  'target_session_attrs',
];

/** The parameters that have one of a few values. */
const choices: Readonly<Record<string, readonly string[]>> = {
  channel_binding: ['disable', 'prefer', 'require'],
  sslmode: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'],
  target_session_attrs: ['read-write', 'primary'],
};
const connectSecondsMax = 60;

/** Returns true if a text has the scheme of a PostgreSQL address. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(text);
}

/** Throws RangeError as `parsePostgresHosts` does, also for a parameter that is unknown or stands there twice. */
export function requirePostgresUrl(text: string): void {
  parsePostgresHosts(text);
  const names = [...readPostgresParameters(text).keys()];
  const wrong = names.find(
    (name, place) => !postgresParameters.includes(name) || names.indexOf(name) < place,
  );
  if (wrong === undefined) return;
  const shown = wrong.replaceAll(/\W/g, '?');
  const known = postgresParameters.join(', ');
  throw new RangeError(
    `a postgres:// address without the parameter ${shown}: it may have, each once, ${known}`,
  );
}

/**
 * Parses the address of a PostgreSQL database. It may name several hosts as libpq does: `postgres://h1:5432,h2/db`.
 * Throws RangeError, whose message completes the sentence "NAME must be …" and contains no password.
 */
export function parsePostgresHosts(text: string): readonly PostgresHost[] {
  const [, start = '', user = '', list = '', rest = ''] =
    /^([^/]+:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/s.exec(text) ?? [];
  // An `@` behind the hosts is part of a password with a `/`, `?` or `#`, and so are the hosts.
  if (!isPostgresUrl(text) || rest.includes('@') || !URL.canParse(`${start}${user}h${rest}`))
    throw new RangeError('a postgres:// address, whose password, if any, is percent-encoded');
  const hosts = list
    .split(',')
    .map((host) => ({ name: nameHost(host), url: `${start}${user}${host}${rest}` }));
  const parameters = readPostgresParameters(text);
  const isSocket = ({ name }: PostgresHost) => /^%2f/i.test(name);
  if (hosts.length > 1) {
    if (hosts.some(isSocket) || parameters.has('host'))
      throw new RangeError('a postgres:// address with several servers or with one socket, not with both');
    const names = hosts.map(({ name }) => name);
    const twice = names.find((name, place) => names.indexOf(name) < place);
    if (twice !== undefined) throw new RangeError(`a postgres:// address that names ${twice} once`);
    if (names.some((name) => name.startsWith(':')))
      throw new RangeError('a postgres:// address without an empty host');
  }
  requireParameters(parameters);
  return hosts;
}

/** Returns the parameters of an address, such as `sslmode`. */
export function readPostgresParameters(text: string): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(text)?.[1]);
}

function nameHost(host: string): string {
  const [, name = '', port = defaultPort] = /^(.*?)(?::(\d*))?$/.exec(host) ?? [];
  if (Number(port) < 1 || Number(port) > portMax)
    throw new RangeError(`a postgres:// address whose ports are from 1 to ${portMax}`);
  if (!URL.canParse(`postgres://${name || 'h'}`))
    throw new RangeError('a postgres:// address whose hosts are names or addresses');
  return `${name.toLowerCase()}:${port}`;
}

function requireParameters(parameters: URLSearchParams): void {
  for (const [name, values] of Object.entries(choices))
    if (!values.includes(parameters.get(name) ?? values[0] ?? ''))
      throw new RangeError(`a postgres:// address whose ${name} is one of ${values.join(', ')}`);
  const mode = parameters.get('sslmode') ?? 'disable';
  if (mode === 'verify-ca' && !parameters.has('sslrootcert'))
    throw new RangeError('a postgres:// address with sslrootcert, which sslmode=verify-ca needs');
  const isBound = parameters.get('channel_binding') === 'require';
  if (isBound && (mode === 'disable' || mode === 'prefer'))
    throw new RangeError('a postgres:// address with sslmode=require, which channel_binding=require needs');
  const seconds = parameters.get('connect_timeout');
  if (
    seconds !== null &&
    !(/^\d{1,2}$/.test(seconds) && Number(seconds) <= connectSecondsMax && Number(seconds) > 0)
  )
    throw new RangeError(`a postgres:// address whose connect_timeout is from 1 to ${connectSecondsMax}`);
}
