import type { Socket } from 'node:net';

/** Maximum memory in bytes of all bodies together that no operation has taken yet. */
export const heldBodyBytesMax = 128 * 2 ** 20;

/** A body that no operation has taken yet. */
export interface HeldBody {
  readonly socket: Socket;
  /** The account of the request, or null until its key is verified. Only `BodyMemory` changes this and `bytes`. */
  accountId: bigint | null;
  /** The memory that is counted for the body. */
  bytes: number;
  /** Called when the body must go, because all bodies together take too much memory. It is no longer counted then. */
  readonly refuse: () => void;
}

/** The bodies of one account, the oldest first. */
interface Share {
  bytes: number;
  readonly bodies: Set<HeldBody>;
}

export type BodyMemory = ReturnType<typeof createBodyMemory>;

/**
 * Bounds the memory of all bodies together. Beyond `bytesMax`, the oldest body of the account that holds most is refused.
 * So the slow bodies of one account never refuse the body of another, and a body without an account yet is treated as if
 * all of these belonged to one account.
 */
export function createBodyMemory(bytesMax = heldBodyBytesMax) {
  const shares = new Map<bigint | null, Share>();
  const onSocket = listBySocket(release);
  let held = 0;

  function add(body: HeldBody, bytes: number): void {
    const share = shares.get(body.accountId) ?? { bytes: 0, bodies: new Set() };
    shares.set(body.accountId, share);
    share.bodies.add(body);
    onSocket(body.socket).add(body);
    share.bytes += bytes;
    body.bytes += bytes;
    held += bytes;
  }

  function release(body: HeldBody): void {
    const share = shares.get(body.accountId);
    if (share?.bodies.delete(body) !== true) return;
    if (share.bodies.size === 0) shares.delete(body.accountId);
    onSocket(body.socket).delete(body);
    share.bytes -= body.bytes;
    held -= body.bytes;
    body.bytes = 0;
  }

  function refuseOne(): void {
    const most = [...shares.values()].reduce((one, other) => (other.bytes > one.bytes ? other : one));
    for (const oldest of most.bodies) {
      release(oldest);
      oldest.refuse();
      return;
    }
  }

  return {
    /** Counts a body with `bytes`. May refuse it, or others. */
    resize(body: HeldBody, bytes: number): void {
      if (body.socket.destroyed) return;
      add(body, bytes - body.bytes);
      while (held > bytesMax) refuseOne();
    },
    /** Counts a body for an account. */
    assign(body: HeldBody, accountId: bigint | null): void {
      const { bytes } = body;
      release(body);
      body.accountId = accountId;
      if (bytes > 0) add(body, bytes);
    },
    release,
    /** Returns the bytes of all bodies together. */
    count: () => held,
  };
}

/** Returns the bodies of a connection. Calls `leave` for them when it closes, because their requests may never begin. */
function listBySocket(leave: (body: HeldBody) => void): (socket: Socket) => Set<HeldBody> {
  const lists = new WeakMap<Socket, Set<HeldBody>>();
  return (socket) => {
    const known = lists.get(socket);
    if (known !== undefined) return known;
    const bodies = new Set<HeldBody>();
    lists.set(socket, bodies);
    socket.once('close', () => bodies.forEach(leave));
    return bodies;
  };
}
