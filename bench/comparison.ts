import type { Plan } from './entrant.ts';
import { measureSqlite } from './floor.ts';
import { floorOf } from './goals.ts';
import { addOrders } from './orders.ts';
import { buildPeerData } from './peer-data.ts';
import { installPeer } from './peer-installation.ts';
import { peers, toSubject } from './peers.ts';
import { type Measured, measureScenario } from './rounds.ts';
import type { Scenario } from './scenarios.ts';
import { bare, commitEach, loggingService, type Subject, service } from './subjects.ts';

/** A scenario measured on the service and on the bare server. */
export interface Comparison {
  readonly own: Measured;
  readonly base: Measured;
  /** CPU time per request of SQLite alone in microseconds (floor.ts), or null if it is not measured. */
  readonly sqliteUs: number | null;
  /** The other subjects. */
  readonly others: readonly Measured[];
}

/** Measures the service, the bare server and `others` in each scenario. Reports progress on standard error. */
export async function compare(
  plan: Plan,
  scenarios: readonly Scenario[],
  others: readonly Subject[] = [commitEach],
): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const [index, scenario] of scenarios.entries()) {
    const store = scenario.hasOrders === true ? addOrders(plan) : plan.store;
    const there = { ...plan, store };
    const [base, own, ...rest] = await measureScenario(scenario, [bare, service, ...others], there);
    if (base === undefined || own === undefined) continue;
    const comparison = { base, own, sqliteUs: measureSqlite(scenario, there), others: rest };
    comparisons.push(comparison);
    const progress = `${index + 1}/${scenarios.length} ${scenario.name}`;
    const floor = floorOf(comparison);
    const share =
      floor === null ? '' : `, ${floor.times.toFixed(2)} of the floor of ${floor.us.toFixed(1)} µs`;
    process.stderr.write(`${progress}: ${own.cpuUs.toFixed(1)} µs, ratio ${own.ratio.toFixed(2)}${share}\n`);
  }
  return comparisons;
}

/**
 * Installs the peers. Returns the installed peers and, for comparison with them, the service that logs every request.
 * Reports each peer that cannot be installed.
 */
export async function preparePeers({ folder, store }: Plan): Promise<Subject[]> {
  const data = await buildPeerData(folder, store);
  const prepared: Subject[] = [loggingService];
  for (const peer of peers) {
    try {
      await installPeer(peer);
      prepared.push(toSubject(peer, data));
    } catch (error) {
      process.stderr.write(`\n*** ${peer.name} cannot be installed and is left out: ${error}\n\n`);
    }
  }
  return prepared;
}
