import { wireKeyTimes } from '../../accounts/credentials/wire-key.js';
import { OPERATOR_SCOPES, type OperatorScope } from '../../accounts/operator-keys/operator-key.entity.js';
import type { ListedOperatorKey } from '../../accounts/operator-keys/operator-keys.service.js';
import { ApiProperty, ApiSchema } from '../../http/open-api/api-decorators.js';
import { PageDto } from '../shared/page.dto.js';

const NULLABLE_TIME = { type: 'string', format: 'date-time', nullable: true } as const;

@ApiSchema({ name: 'OperatorKey' })
export class OperatorKeyDto {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;

  @ApiProperty()
  readonly name!: string;

  @ApiProperty({ enum: OPERATOR_SCOPES })
  readonly scope!: OperatorScope;

  @ApiProperty({ description: 'The first characters of the key.' })
  readonly prefix!: string;

  @ApiProperty({ format: 'date-time' })
  readonly created_at!: string;

  @ApiProperty({ ...NULLABLE_TIME, description: '`null`: the key never expires.' })
  readonly expires_at!: string | null;

  @ApiProperty({ ...NULLABLE_TIME, description: 'Up to a minute late.' })
  readonly last_used_at!: string | null;

  @ApiProperty(NULLABLE_TIME)
  readonly revoked_at!: string | null;
}

@ApiSchema({ name: 'RevokedOperatorKey' })
export class RevokedOperatorKeyDto {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ format: 'date-time' })
  readonly revoked_at!: string;
}

@ApiSchema({ name: 'OperatorKeyPage' })
export class OperatorKeyPageDto extends PageDto {
  @ApiProperty({ type: [OperatorKeyDto] })
  readonly data!: readonly OperatorKeyDto[];
}

export function wireOperatorKey(key: ListedOperatorKey): OperatorKeyDto {
  return {
    id: key.id,
    name: key.name,
    scope: key.scope,
    ...wireKeyTimes(key),
  };
}
