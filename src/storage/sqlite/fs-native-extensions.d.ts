/** Types of the functions that this service uses. The package itself has no types. */
declare module 'fs-native-extensions' {
  /** Returns true if the lock was granted. A read-only descriptor can take only a shared lock. */
  export function tryLock(
    descriptor: number,
    offset: number,
    length: number,
    options?: { readonly shared?: boolean },
  ): boolean;
  export function unlock(descriptor: number, offset: number, length: number): void;
}
