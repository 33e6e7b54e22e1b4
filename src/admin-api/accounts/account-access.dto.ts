import { ApiProperty, ApiSchema } from '../../http/open-api/api-decorators.js';

@ApiSchema({ name: 'AdminRevokedKeys' })
export class RevokedKeysDto {
  @ApiProperty({ type: 'integer', description: 'How many API keys were revoked.' })
  readonly revoked_keys!: number;
}

@ApiSchema({ name: 'AdminEndedSessions' })
export class EndedSessionsDto {
  @ApiProperty({ type: 'integer', description: 'How many sessions have ended.' })
  readonly ended!: number;
}

@ApiSchema({ name: 'AdminLink' })
export class LinkDto {
  @ApiProperty({ format: 'uri', description: 'The link works once. No other response shows it.' })
  readonly link!: string;

  @ApiProperty({ format: 'date-time' })
  readonly expires_at!: string;
}
