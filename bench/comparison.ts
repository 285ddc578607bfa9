import type { Plan } from './entrant.ts';
import { judge } from './goals.ts';
import { buildPeerData } from './peer-data.ts';
import { installPeer } from './peer-installation.ts';
import { peers, toSubject } from './peers.ts';
import { drawPlot } from './plot.ts';
import { formatReport } from './report.ts';
import { type Measured, measureScenario } from './rounds.ts';
import { scenarios } from './scenarios.ts';
import { bare, commitEach, loggingService, type Subject, service } from './subjects.ts';

/** Measures the service against the bare server, and the peers if they are wanted, in the named scenarios. */
export async function compare(
  plan: Plan,
  { only, withPeers }: { readonly only: readonly string[]; readonly withPeers: boolean },
): Promise<{ readonly report: string; readonly plot: string; readonly areGoalsMet: boolean }> {
  const subjects = [bare, service, commitEach, ...(withPeers ? await preparePeers(plan) : [])];
  const measured: Measured[] = [];
  for (const scenario of scenarios.filter(({ name }) => only.includes(name))) {
    process.stderr.write(`${scenario.title}\n`);
    const fitting = subjects.filter((subject) => subject.isFor(scenario));
    measured.push(...(await measureScenario(scenario, fitting, plan, [plan])).flat());
  }
  const verdicts = judge(measured, withPeers);
  return {
    report: formatReport(measured, verdicts),
    plot: drawPlot(measured),
    areGoalsMet: verdicts.every(({ isMet }) => isMet),
  };
}

/** The peers that can be installed, and the service as it compares with them; each that cannot is named. */
async function preparePeers({ folder, store }: Plan): Promise<Subject[]> {
  const data = await buildPeerData(folder, store);
  const prepared: Subject[] = [loggingService];
  for (const peer of peers) {
    try {
      await installPeer(peer);
      prepared.push(toSubject(peer, data));
    } catch (error) {
      process.stderr.write(`\n*** ${peer.name} CANNOT BE INSTALLED and is left out: ${error}\n\n`);
    }
  }
  return prepared;
}
