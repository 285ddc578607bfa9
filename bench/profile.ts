import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findLayer, type Layer, type Place } from './layer-rules.ts';

/** A CPU profile as V8 writes it; times are in microseconds. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: Place;
    readonly children?: readonly number[];
  }[];
  readonly endTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
  readonly startTime: number;
}

/** What makes Node write a profile into a folder when it ends. */
export function profilingArgs(folder: string): string[] {
  return ['--cpu-prof', '--cpu-prof-dir', folder, '--cpu-prof-interval', '250'];
}

/** The share of the busy time of a profile's last seconds that each layer took; they add up to 1. */
export function readShares(folder: string, lastSeconds: number): ReadonlyMap<Layer, number> {
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.cpuprofile'));
  if (name === undefined) throw new Error('the server wrote no profile');
  const profile = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Profile;
  const layerOf = assignLayers(profile);
  const fromUs = profile.endTime - lastSeconds * 1e6;
  const times = new Map<Layer, number>();
  let nowUs = profile.startTime;
  let busyUs = 0;
  for (const [index, node] of profile.samples.entries()) {
    // A sample stands for the time up to the next one.
    const tookUs = profile.timeDeltas[index + 1] ?? 0;
    nowUs += profile.timeDeltas[index] ?? 0;
    const layer = layerOf.get(node);
    if (layer === undefined || nowUs < fromUs) continue;
    times.set(layer, (times.get(layer) ?? 0) + tookUs);
    busyUs += tookUs;
  }
  return new Map([...times].map(([layer, us]) => [layer, us / busyUs]));
}

/** The layer of every place but the idle one: its own, or its nearest caller's that has one. */
function assignLayers({ nodes }: Profile): Map<number, Layer> {
  const assigned = new Map<number, Layer>();
  const callerOf = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  // Callers come before what they call.
  for (const { id, callFrame } of nodes) {
    if (callFrame.functionName === '(idle)') continue;
    const caller = assigned.get(callerOf.get(id) ?? 0);
    assigned.set(id, findLayer(callFrame) ?? caller ?? 'socket and HTTP');
  }
  return assigned;
}
