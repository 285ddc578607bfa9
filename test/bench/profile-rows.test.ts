import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type CpuProfile, sumSelfTimes } from '../../bench/profile-rows.ts';

const file = pathToFileURL(join(import.meta.dirname, '../../src/app.ts')).href;
const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: { functionName: '(idle)', url: '', lineNumber: -1 } },
    { id: 2, callFrame: { functionName: 'startApp', url: file, lineNumber: 6 } },
    { id: 3, callFrame: { functionName: '', url: 'node:net', lineNumber: 0 } },
  ],
  startTime: 0,
  endTime: 2_000_000,
  samples: [2, 1, 2, 3, 2],
  timeDeltas: [100, 500_000, 999_900, 300, 200],
};

test('the self time of each function covers only the last seconds and excludes idle time', () => {
  const selfUs = sumSelfTimes([profile, profile], 1);
  assert.deepEqual(Object.fromEntries(selfUs), {
    'startApp src/app.ts:7': 600,
    '(anonymous) node:net:1': 400,
  });
});
