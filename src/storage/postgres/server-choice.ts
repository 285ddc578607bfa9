import type { ClientBase } from 'pg';
import { parsePostgresHosts } from '../../postgres-address.ts';
import { askHosts, isOneServer, type Primary, requirePrimary } from './servers.ts';

/** Time in ms in which a host must answer, and after which the hosts are asked again if none takes writes. */
const answerMsMax = 1_000;
const askEveryMs = 200;

/**
 * Creates a choice among the hosts of an address. Calls `endConnections` when the address leads to another server or to
 * a newer timeline than before. An older connection could read what a former primary has.
 */
export function createServerChoice(url: string, endConnections: () => void) {
  const isOne = isOneServer(url);
  let chosen = parsePostgresHosts(url)[0]?.url ?? url;
  let isLost = !isOne;
  let known: Primary | null = null;
  let asking: Promise<void> | null = null;

  function note(primary: Primary): void {
    const isOther = primary.system !== known?.system || primary.timeline !== known.timeline;
    if (known !== null && isOther) endConnections();
    known = primary;
  }

  async function ask(): Promise<void> {
    const found = await askHosts(url, known, answerMsMax);
    note(found);
    chosen = found.url;
    isLost = false;
  }

  /** Asks in any case, but does not run twice at once. */
  function look(): Promise<void> {
    asking ??= ask().finally(() => {
      const forget = () => {
        asking = null;
      };
      setTimeout(forget, isLost ? askEveryMs : 0).unref();
    });
    return asking;
  }

  return {
    /** Returns the address for a new connection: the server found last. */
    readUrl: () => chosen,
    /** Asks the hosts of the address which one takes writes, if that is unknown. Throws Error if there is none. */
    async find(): Promise<void> {
      if (isLost) await look();
    },
    look,
    /** Reports that the server is lost or takes no writes. `find` then asks again. */
    leave(): void {
      isLost = !isOne;
    },
    /** Checks a new connection. Throws Error if its server must be neither read nor written. */
    async admit(client: ClientBase): Promise<void> {
      note(await requirePrimary(client, known));
    },
  };
}
