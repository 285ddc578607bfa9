/** The types of the functions that this service uses. The package has none. */
declare module 'fs-native-extensions' {
  /** Whether the lock was granted. A read-only descriptor can take only a shared lock. */
  export function tryLock(
    descriptor: number,
    offset: number,
    length: number,
    options?: { readonly shared?: boolean },
  ): boolean;
  export function unlock(descriptor: number, offset: number, length: number): void;
}
