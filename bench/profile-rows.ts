import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A CPU profile of V8. Times are in microseconds. The first line number is 0. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  readonly startTime: number;
  readonly endTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

type Node = CpuProfile['nodes'][number];

const root = `${import.meta.dirname}/..`;

/** Returns the self time by function and line in the last seconds of the profiles, in microseconds. Skips idle time. */
export function sumSelfTimes(profiles: readonly CpuProfile[], lastSeconds: number): Map<string, number> {
  const selfUs = new Map<string, number>();
  for (const profile of profiles) addSelfTimes(selfUs, profile, lastSeconds);
  return selfUs;
}

function addSelfTimes(selfUs: Map<string, number>, profile: CpuProfile, lastSeconds: number): void {
  const places = new Map(profile.nodes.map((node) => [node.id, describePlace(node)]));
  const fromUs = profile.endTime - lastSeconds * 1e6;
  let nowUs = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    nowUs += profile.timeDeltas[index] ?? 0;
    const place = places.get(id);
    if (place === undefined || place === '(idle)' || nowUs < fromUs) continue;
    // A sample stands for the time until the next one.
    selfUs.set(place, (selfUs.get(place) ?? 0) + (profile.timeDeltas[index + 1] ?? 0));
  }
}

function describePlace({ callFrame: { functionName, url, lineNumber } }: Node): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : url;
  return `${name} ${file}:${lineNumber + 1}`;
}
