import { createClient, createCluster, RedisClient } from '@redis/client';

/** A connection to one server, or to the nodes of one cluster. It does not reconnect after a failure. */
export interface RedisConnection {
  /** Sends a command to the node that has the key. Commands of one turn of the event loop are sent together. */
  send(key: string, command: string[]): Promise<unknown>;
  /** Addresses of the nodes of the cluster; empty for a single server. */
  readonly otherUrls: readonly string[];
  /** Closes the connection. Running commands fail. */
  destroy(): void;
}

interface Client {
  on(event: 'error', listener: () => void): unknown;
  connect(): Promise<unknown>;
  destroy(): void;
}

/** Timeout in ms for each step of connecting. */
const connectMsMax = 1_000;

/**
 * Every server and proxy supports RESP 2. The client's own timeout is off, because that timeout ends when a command is
 * sent.
 */
const settings = { RESP: 2, commandOptions: { timeout: 0 } } as const;
const socketSettings = { connectTimeout: connectMsMax, reconnectStrategy: false } as const;

/** Connects to the first address that answers. If no address answers, throws the error of the last address. */
export async function openRedisConnection(urls: readonly string[]): Promise<RedisConnection> {
  let failure: unknown;
  for (const url of urls)
    try {
      return await openByUrl(url);
    } catch (error) {
      failure = error;
    }
  throw failure;
}

async function openByUrl(url: string): Promise<RedisConnection> {
  const client = createClient({ ...settings, url, socket: socketSettings });
  const inCluster = await connect(client, () => isInCluster(client));
  if (!inCluster)
    return {
      send: (_key, command) => client.sendCommand(command),
      otherUrls: [],
      destroy: () => client.destroy(),
    };
  client.destroy();
  return openCluster(url);
}

async function openCluster(url: string): Promise<RedisConnection> {
  const address = RedisClient.parseURL(url);
  const cluster = createCluster({
    ...settings,
    rootNodes: [{ url }],
    defaults: { ...address, socket: { ...address.socket, ...socketSettings } },
  });
  const otherUrls = await connect(cluster, async () => cluster.masters.map((node) => redirect(url, node)));
  return {
    send: (key, command) => cluster.sendCommand(key, false, command),
    otherUrls,
    destroy: () => cluster.destroy(),
  };
}

/** Connects and runs `begin`. If that fails or takes longer than `connectMsMax`, closes the client. */
async function connect<T>(client: Client, begin: () => Promise<T>): Promise<T> {
  // Without a listener, Node throws on an error event. The calls that fail report the error anyway.
  client.on('error', () => undefined);
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('Redis does not answer')), connectMsMax);
  const destroy = () => client.destroy();
  const connecting = client.connect();
  try {
    return await Promise.race([connecting.then(begin), tooLate]);
  } catch (error) {
    destroy();
    // A cluster client that is still listing its nodes connects to them even after `destroy`. So it is destroyed
    // again.
    connecting.then(destroy, destroy);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A server that does not support HELLO is not a cluster. */
async function isInCluster(client: { sendCommand(command: string[]): Promise<unknown> }): Promise<boolean> {
  const hello = await client.sendCommand(['HELLO']).catch(() => null);
  return Array.isArray(hello) && hello[hello.indexOf('mode') + 1] === 'cluster';
}

function redirect(url: string, node: { host: string; port: number }): string {
  const address = new URL(url);
  address.hostname = node.host.includes(':') ? `[${node.host}]` : node.host;
  address.port = String(node.port);
  return address.href;
}
