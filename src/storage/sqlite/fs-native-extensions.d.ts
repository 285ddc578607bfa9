/** The part of the package that this service uses; it has no types of its own. */
declare module 'fs-native-extensions' {
  /** Whether the lock was granted. A descriptor open for reading alone can take only a shared one. */
  export function tryLock(
    descriptor: number,
    offset: number,
    length: number,
    options?: { readonly shared?: boolean },
  ): boolean;
  export function unlock(descriptor: number, offset: number, length: number): void;
}
