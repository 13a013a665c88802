-- True if the email's news is out of date, for example because the client has paid the charge.
create function private.is_obsolete_email(email public.email_outbox) returns boolean
language sql stable security definer set search_path = '' as $$
  select case email.kind
    when 'storage' then not exists (
      select from public.shipments
      where shipments.id = email.shipment_id and shipments.free_storage_ends_on::text = email.detail and shipments.stage < 9
    )
    when 'rejected' then exists (
      select from public.documents
      where documents.shipment_id = email.shipment_id and documents.name = email.detail and documents.uploaded
    )
    when 'charge' then not exists (
      select from public.charges
      where charges.shipment_id = email.shipment_id and charges.item = email.detail and charges.paid_at is null
    )
    when 'paid' then not exists (
      select from public.charges
      where charges.shipment_id = email.shipment_id and charges.item = email.detail and charges.paid_at is not null
    )
    when 'verified' then exists (
      select from public.documents where documents.shipment_id = email.shipment_id and not documents.verified
    )
    when 'arrived' then not exists (
      select from public.shipments
      where shipments.id = email.shipment_id and concat_ws(' ', storage_location, arrived_on) = email.detail
    )
    when 'withdrawn' then exists (
      select from public.shipments where shipments.id = email.shipment_id and shipments.withdrawn_at is null
    )
    else false
  end
$$;

-- Returns the last day on which an account must be stored for its shipments, or null. Withdrawn shipments do not count.
create function private.account_retention_end(account_id uuid) returns date
language sql stable set search_path = '' as $$
  select max(retention_ends_on) from public.shipments as shipment
  where user_id = account_retention_end.account_id and (withdrawn_at is null or exists (
    select from public.audit_log where shipment_id = shipment.id and action = 'shipment extend-retention'
  ))
$$;

-- Extends a shipment's retention period to `day` and returns its previous last day.
-- Raises PT409 if `day` is not after the previous last day.
create function public.extend_shipment_retention(shipment_id uuid, day date, actor_name text default null) returns date
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  shipment public.shipments := private.lock_shipment(shipment_id);
begin
  if shipment.retention_ends_on >= day then
    raise sqlstate 'PT409' using message = 'Enter a date after the current end of the retention period. You can extend this period, but you cannot shorten it.';
  end if;
  update public.shipments set retention_ends_on = day where id = shipment.id;
  perform private.insert_audit_entry(
    actor, 'shipment extend-retention', shipment_id => shipment.id,
    before => jsonb_build_object('retention_ends_on', shipment.retention_ends_on),
    after => jsonb_build_object('retention_ends_on', day)
  );
  return shipment.retention_ends_on;
end
$$;

-- Returns the shipments, files and accounts that are past their retention period.
-- Also returns files that have no document and are over a day old. An interrupted upload can leave such a file.
create function public.beyond_retention() returns jsonb
language sql stable security definer set search_path = '' as $$
  with file as (
    select name, split_part(name, '/', 2) as shipment_id, created_at
    from storage.objects
    where bucket_id = 'documents' and name ~ '^[0-9a-f-]{36}/[0-9a-f-]{36}/'
  ),
  account as (
    select users.id, users.email, greatest(users.created_at, users.last_sign_in_at, (
      select max(session.updated_at) from auth.sessions as session where session.user_id = users.id
    )) as last_seen_at
    from auth.users
    where not exists (select from public.shipments where shipments.user_id = users.id)
  )
  select jsonb_build_object(
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'retention_ends_on', shipment.retention_ends_on,
        'files', (select coalesce(jsonb_agg(file.name order by file.name), '[]'::jsonb)
          from file where file.shipment_id = shipment.id::text)
      ) order by shipment.retention_ends_on, shipment.id), '[]'::jsonb)
      from public.shipments as shipment
      where shipment.retention_ends_on < (now() at time zone 'UTC')::date
    ),
    'files', (
      select coalesce(jsonb_agg(file.name order by file.name), '[]'::jsonb)
      from file
      left join public.shipments as shipment on shipment.id::text = file.shipment_id
      where shipment.id is null
        or (
          shipment.retention_ends_on >= (now() at time zone 'UTC')::date
          and file.created_at < now() - interval '1 day'
          and not exists (select from public.documents where documents.storage_path = file.name)
        )
    ),
    'accounts', (
      select coalesce(jsonb_agg(account order by account.last_seen_at, account.id), '[]'::jsonb)
      from account
      where account.last_seen_at < now() - interval '7 years'
    )
  )
$$;

-- Returns the upload chunks of one account, or of all accounts, oldest first.
-- The operators ~>=~ and ~<~ compare bytes, so that Postgres can use the index of storage.objects.
-- In this order, "0" follows "/", and "~" follows every account ID.
create function public.list_upload_chunks(account_id uuid default null, before timestamptz default null) returns jsonb
language sql stable security definer set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('name', name, 'created_at', created_at) order by created_at, name), '[]'::jsonb)
  from storage.objects
  where bucket_id = 'upload-chunks'
    and name operator(pg_catalog.~>=~) coalesce(list_upload_chunks.account_id || '/', '')
    and name operator(pg_catalog.~<~) coalesce(list_upload_chunks.account_id || '0', '~')
    and (list_upload_chunks.before is null or created_at < list_upload_chunks.before)
$$;

-- Deletes expired password and email-change links, share links that ended over 30 days ago, and rows of email_outbox
-- that are over 30 days old. Returns the number of deleted rows.
create function public.delete_expired_links() returns integer
language sql volatile security definer set search_path = '' as $$
  -- An ended share link remains for 30 days, so that a form that is submitted again cannot recreate the link.
  with share as (delete from private.share_links where expires_at < now() - interval '30 days' returning 1),
    address as (delete from private.email_changes where expires_at < now() returning 1),
    password as (delete from private.password_links where expires_at < now() returning 1),
    email as (delete from public.email_outbox where created_at < now() - interval '30 days' returning 1)
  select count(*)::integer from (
    select * from share union all select * from address union all select * from password union all select * from email
  ) as deleted
$$;

grant execute on function
  public.extend_shipment_retention, public.beyond_retention, public.list_upload_chunks, public.delete_expired_links
to service_role;
