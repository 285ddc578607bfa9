import { spawnSync } from 'node:child_process';

/** The reason why this machine cannot create a mount namespace, which is also printed; false if it can. */
export function whyNoMounts(): string | false {
  const { status, stderr, error } = spawnSync('unshare', ['--mount', 'mount', '--bind', '/tmp', '/tmp'], {
    encoding: 'utf8',
  });
  if (status === 0) return false;
  const reason = `SKIPPED: this machine cannot create a mount namespace (${error?.message ?? stderr.trim()}); it needs root on Linux`;
  process.stderr.write(`\n${reason}\n`);
  return reason;
}

/** One mount: a folder shown at another path, or made read-only. Mounts below it stay unchanged. */
export type Mount = { readonly from: string; readonly at: string } | { readonly readOnly: string };

/**
 * A command that runs another command in its own mount namespace, with these mounts in order. A `wrapper` of
 * processes.ts.
 */
export function withMounts(...mounts: readonly Mount[]): readonly string[] {
  const script = ['set -e', ...mounts.map(describeMount), 'exec "$@"'].join('\n');
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script, 'sh'];
}

function describeMount(mount: Mount): string {
  if ('from' in mount) return `mount --bind '${mount.from}' '${mount.at}'`;
  const { readOnly } = mount;
  // The root of a process stays its old mount, so nothing is mounted over it.
  const separate = readOnly === '/' ? ':' : `mount --rbind '${readOnly}' '${readOnly}'`;
  return `${separate}; mount -o remount,bind,ro '${readOnly}'`;
}
