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

/**
 * One mount: a folder that is bound to another path or made read-only, or a new file system over a folder. Mounts below the
 * folder stay unchanged. No program serves the `fuse` file system: it has a type, but nobody may open a file there.
 */
type Mount =
  | { readonly from: string; readonly at: string }
  | { readonly readOnly: string }
  | { readonly tmpfs: string }
  | { readonly overlay: string }
  | { readonly fuse: string };

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
  if ('tmpfs' in mount) return `mount -t tmpfs tmpfs '${mount.tmpfs}'`;
  if ('overlay' in mount) return describeOverlay(mount.overlay);
  if ('fuse' in mount)
    return `exec 9<>/dev/fuse; mount -i -t fuse -o fd=9,rootmode=40000,user_id=1,group_id=1 fuse '${mount.fuse}'`;
  const { readOnly } = mount;
  // The root of a process does not change if a mount covers `/`, so the existing mount is made read-only.
  const separate = readOnly === '/' ? ':' : `mount --rbind '${readOnly}' '${readOnly}'`;
  return `${separate}; mount -o remount,bind,ro '${readOnly}'`;
}

/** The layers of an overlay may not be on an overlay, such as the root of a container, so they are on a tmpfs. */
function describeOverlay(folder: string): string {
  const layers = `mount -t tmpfs tmpfs '${folder}'; mkdir '${folder}/low' '${folder}/high' '${folder}/work'`;
  const options = `lowerdir=${folder}/low,upperdir=${folder}/high,workdir=${folder}/work`;
  return `${layers}; mount -t overlay -o '${options}' overlay '${folder}'`;
}
