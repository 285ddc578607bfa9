import { spawnSync } from 'node:child_process';

/** If this machine cannot create a mount namespace, prints and returns the reason. Otherwise returns false. */
export function whyNoMounts(): string | false {
  const { status, stderr, error } = spawnSync('unshare', ['--mount', 'mount', '--bind', '/tmp', '/tmp'], {
    encoding: 'utf8',
  });
  if (status === 0) return false;
  const reason = `SKIPPED: this machine cannot create a mount namespace (${error?.message ?? stderr.trim()}); it needs root on Linux`;
  process.stderr.write(`\n${reason}\n`);
  return reason;
}

/** One mount: a folder that is bound to another path or made read-only. Mounts below the folder stay unchanged. */
type Mount = { readonly from: string; readonly at: string } | { readonly readOnly: string };

/**
 * Returns a command that runs another command in a new mount namespace, with these mounts in order. It is a `wrapper`
 * for processes.ts.
 */
export function withMounts(...mounts: readonly Mount[]): readonly string[] {
  const script = ['set -e', ...mounts.map(describeMount), 'exec "$@"'].join('\n');
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script, 'sh'];
}

function describeMount(mount: Mount): string {
  if ('from' in mount) return `mount --bind '${mount.from}' '${mount.at}'`;
  const { readOnly } = mount;
  // The root of a process does not change if a mount covers `/`, so the existing mount is made read-only.
  const separate = readOnly === '/' ? ':' : `mount --rbind '${readOnly}' '${readOnly}'`;
  return `${separate}; mount -o remount,bind,ro '${readOnly}'`;
}
