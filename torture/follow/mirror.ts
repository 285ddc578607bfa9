import type { Fleet, FleetAnswer } from './fleet.ts';

interface Shown {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly id: number };
}

/** A copy of the store, built only from its pages and its events. */
export interface Mirror {
  /** Objects as JSON, by kind and id: `pet 7`. */
  readonly objects: ReadonlyMap<string, string>;
  /** The ids of all received events, in order. */
  readonly met: readonly string[];
  /** Follows the events until `isOver` returns true and the next page is empty. */
  follow(isOver: () => boolean): Promise<void>;
}

/**
 * Begins a copy as docs/events.md describes: reads the current end of the feed, then all animals. Each request goes to
 * the next instance.
 */
export async function beginMirror(fleet: Fleet): Promise<Mirror> {
  const objects = new Map<string, string>();
  const met: string[] = [];
  let next = (await insist(fleet, '/events?after=now&limit=7&wait=1')).next;
  for (let page: string | null = '/pets?limit=20'; page !== null; ) {
    const answer = await insist(fleet, page);
    for (const pet of JSON.parse(answer.body) as { id: number }[])
      objects.set(`pet ${pet.id}`, JSON.stringify(pet));
    page = answer.next;
  }

  function take({ id, type, data }: Shown): void {
    met.push(id);
    const [kind = '', what] = type.split('.');
    if (what === 'deleted') objects.delete(`${kind} ${data.id}`);
    else objects.set(`${kind} ${data.id}`, JSON.stringify(data));
  }

  return {
    objects,
    met,
    async follow(isOver) {
      for (;;) {
        const wasOver = isOver();
        const answer = await insist(fleet, next ?? '');
        const events = JSON.parse(answer.body) as Shown[];
        events.forEach(take);
        next = answer.next;
        if (wasOver && events.length === 0) return;
      }
    },
  };
}

/** Repeats a request until an instance answers it. */
async function insist(fleet: Fleet, path: string): Promise<FleetAnswer> {
  for (;;) {
    const answer = await fleet.ask(path);
    if (answer?.status === 200) return answer;
    if (answer !== null && answer.status !== 503)
      throw new Error(`${path} was answered with ${answer.status} ${answer.body}`);
  }
}
