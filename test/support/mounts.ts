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

/** One mount: a place shown at another, or made read-only with all that is mounted below it. */
export type Mount =
  | { readonly from: string; readonly at: string }
  | { readonly tmpfs: string }
  | { readonly readOnly: string };

/**
 * A command that runs the one behind it with mounts of its own, made in their order; they end with it. It is a `wrapper`
 * of processes.ts.
 */
export function withMounts(...mounts: readonly Mount[]): readonly string[] {
  const script = ['set -e', ...mounts.map(describeMount), 'exec "$@"'].join('\n');
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script, 'sh'];
}

function describeMount(mount: Mount): string {
  if ('tmpfs' in mount) return `mount -t tmpfs tmpfs '${mount.tmpfs}'`;
  if ('from' in mount) return `mount --bind '${mount.from}' '${mount.at}'`;
  return `mount --rbind '${mount.readOnly}' '${mount.readOnly}' && mount -o remount,bind,ro '${mount.readOnly}'`;
}
