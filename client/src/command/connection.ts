/** A wrong argument. The program ends with exit code 2. */
export class UsageError extends Error {}

export type Environment = Readonly<Record<string, string | undefined>>;

/** How a command reaches the service. */
export interface Connection {
  readonly apiKey: string;
  readonly baseUrl: string;
}

/** Reads the key from the environment alone, because others can see the arguments of a program. */
export function readConnection(url: string | undefined, environment: Environment): Connection {
  const baseUrl = url || environment['ANIMAL_STORE_URL'];
  const apiKey = environment['ANIMAL_STORE_KEY'];
  if (!apiKey) throw new UsageError('set the environment variable ANIMAL_STORE_KEY to an API key');
  if (!baseUrl)
    throw new UsageError('give the address of the service with --url, or set ANIMAL_STORE_URL to it');
  return { apiKey, baseUrl };
}
