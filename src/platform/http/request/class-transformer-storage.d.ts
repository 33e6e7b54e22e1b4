// The types of the package do not cover this module.
declare module 'class-transformer/cjs/storage.js' {
  import type { ClassConstructor, TransformationType, TypeOptions } from 'class-transformer';

  /** What `@Type()` has said about a member. */
  interface TypeMetadata {
    readonly typeFunction: (help?: unknown) => unknown;
    readonly options: TypeOptions;
    /** `design:type`, if the compiler has written it. */
    readonly reflectedType: unknown;
  }

  export const defaultMetadataStorage: {
    getExposedMetadatas(target: ClassConstructor<object>): readonly unknown[];
    getExcludedMetadatas(target: ClassConstructor<object>): readonly unknown[];
    findTransformMetadatas(
      target: ClassConstructor<object>,
      member: string,
      transformation: TransformationType,
    ): readonly unknown[];
    findTypeMetadata(target: ClassConstructor<object>, member: string): TypeMetadata | undefined;
  };
}
