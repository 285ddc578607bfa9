import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressSubject } from '../../limits/rules/address.ts';

/**
 * Bounds the open connections of a server, fair by client address. If more than `openMax` are open, the newest
 * connection of the address with the most connections is closed. So no address can take the connections of all others.
 * The server emits `drop` for each connection that is closed for this reason.
 */
export function shareConnections(server: Server, openMax: number): void {
  // Node accepts one more connection, so that this function can choose which one is closed.
  server.maxConnections = openMax + 1;
  const shares = createShares();

  server.on('connection', (socket: Socket) => {
    const owner = addressSubject(socket.remoteAddress ?? '');
    shares.add(owner, socket);
    socket.once('close', () => shares.remove(owner, socket));
    if (shares.countAll() <= openMax) return;
    const largest = shares.findLargest(owner);
    const newest = shares.findNewest(largest);
    if (newest === undefined) return;
    shares.remove(largest, newest);
    newest.destroy();
    server.emit('drop');
  });
}

/** The open connections of each address. Finds the address with the most connections without a search. */
function createShares() {
  const socketsOf = new Map<string, Set<Socket>>();
  /** The addresses with each number of connections. The index is the number. */
  const ownersByCount: Set<string>[] = [];
  let all = 0;
  let most = 0;

  function move(owner: string, from: number, to: number): void {
    ownersByCount[from]?.delete(owner);
    ownersByCount[to] ??= new Set();
    if (to > 0) ownersByCount[to].add(owner);
    all += to - from;
    most = Math.max(most, to);
    while (most > 0 && ownersByCount[most]?.size === 0) most -= 1;
  }

  return {
    countAll: () => all,

    add(owner: string, socket: Socket): void {
      const sockets = socketsOf.get(owner) ?? new Set();
      socketsOf.set(owner, sockets.add(socket));
      move(owner, sockets.size - 1, sockets.size);
    },

    /** Does nothing if the connection is already removed. */
    remove(owner: string, socket: Socket): void {
      const sockets = socketsOf.get(owner);
      if (!sockets?.delete(socket)) return;
      if (sockets.size === 0) socketsOf.delete(owner);
      move(owner, sockets.size + 1, sockets.size);
    },

    /** Returns the address with the most connections. If several have the most, prefers `owner`. */
    findLargest(owner: string): string {
      if (ownersByCount[most]?.has(owner)) return owner;
      return ownersByCount[most]?.values().next().value ?? owner;
    },

    findNewest(owner: string): Socket | undefined {
      let newest: Socket | undefined;
      for (const socket of socketsOf.get(owner) ?? []) newest = socket;
      return newest;
    },
  };
}
