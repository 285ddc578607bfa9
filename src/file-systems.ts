/**
 * Network and FUSE file systems, with the types that `statfs` of Linux returns for them. Their locks and shared memory may
 * not reach a process of another machine, container or mount. The shared folders of container desktops are `fuse` or `9p`.
 */
export const remoteFileSystems = {
  '9p': [0x01021997],
  afs: [0x5346414f, 0x6b414653],
  ceph: [0x00c36400],
  fuse: [0x65735546],
  gpfs: [0x47504653],
  lustre: [0x0bd00bd0],
  nfs: [0x6969],
  smb: [0x517b, 0xff534d42, 0xfe534d42],
  vboxsf: [0x786f4256],
  vmhgfs: [0xbacbacbc],
} as const satisfies Readonly<Record<string, readonly number[]>>;

/** The name of one of `remoteFileSystems`. */
export type RemoteFileSystem = keyof typeof remoteFileSystems;

export const remoteFileSystemNames = Object.keys(remoteFileSystems) as readonly RemoteFileSystem[];
