import { spawnSync } from 'node:child_process';

/** Why no process can have mounts of its own here; false when it can. Says so aloud. */
export function whyNoMounts(): string | false {
  const { status, stderr, error } = spawnSync('unshare', ['--mount', 'mount', '--bind', '/tmp', '/tmp'], {
    encoding: 'utf8',
  });
  if (status === 0) return false;
  const reason = `SKIPPED: no mount namespace can be made (${error?.message ?? stderr.trim()}); it needs root on Linux`;
  process.stderr.write(`\n${reason}\n`);
  return reason;
}

/** One mount: a place shown at another, or made read-only; what is mounted below it stays as it is. */
export type Mount = { readonly from: string; readonly at: string } | { readonly readOnly: string };

/**
 * A command that runs the one behind it with mounts of its own, made in their order; they end with it. It is a `wrapper`
 * of processes.ts.
 */
export function withMounts(...mounts: readonly Mount[]): readonly string[] {
  const script = ['set -e', ...mounts.map(describeMount), 'exec "$@"'].join('\n');
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script, 'sh'];
}

function describeMount(mount: Mount): string {
  if ('from' in mount) return `mount --bind '${mount.from}' '${mount.at}'`;
  const { readOnly } = mount;
  // The root of a process stays the mount that it was, so nothing is mounted over it.
  const separate = readOnly === '/' ? ':' : `mount --rbind '${readOnly}' '${readOnly}'`;
  return `${separate}; mount -o remount,bind,ro '${readOnly}'`;
}
