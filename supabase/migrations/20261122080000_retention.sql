-- How long records are kept, as content/pages/privacy.mdx promises: a shipment with its papers for seven years after the
-- last thing that happened to it, its closing as a rule, and longer where a law, a dispute or an investigation asks for
-- it; an account while it has shipments or is used, and seven years beyond.

-- The last day on which the shipment is kept. Staff may set a later one.
alter table public.shipments
  add column retain_until date not null default (now() at time zone 'UTC' + interval '7 years')::date;
update public.shipments
set retain_until = (greatest(shipments.created_at, (
  select max(event.created_at) from public.tracking_events as event where event.shipment_id = shipments.id
)) at time zone 'UTC' + interval '7 years')::date;

create function private.keep_shipment() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.retain_until := greatest(new.retain_until, (now() at time zone 'UTC' + interval '7 years')::date);
  return new;
end
$$;
revoke all on function private.keep_shipment() from public, anon, authenticated;

create trigger keep_opened_shipment
before insert on public.shipments
for each row execute function private.keep_shipment();

create trigger keep_moved_shipment
before update of stage on public.shipments
for each row when (new.stage is distinct from old.stage) execute function private.keep_shipment();

-- What is past its time, for staff only: {"shipments": [{"id", "name", "retain_until", "files": [path]}], "files": [path],
-- "accounts": [{"id", "email", "last_seen"}]}. `files` are those of shipments that are gone: a deletion that was cut off
-- leaves them. Accounts have no shipment, and nobody has been in them for seven years.
create function public.past_retention() returns jsonb
language sql stable security definer
set search_path = ''
as $$
  with file as (
    select name, split_part(name, '/', 2) as shipment_id
    from storage.objects
    where bucket_id = 'documents' and name ~ '^[0-9a-f-]{36}/[0-9a-f-]{36}/'
  ),
  account as (
    select users.id, users.email, greatest(users.created_at, users.last_sign_in_at, (
      select max(session.updated_at) from auth.sessions as session where session.user_id = users.id
    )) as last_seen
    from auth.users
    where not exists (select from public.shipments where shipments.user_id = users.id)
  )
  select jsonb_build_object(
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'retain_until', shipment.retain_until,
        'files', (select coalesce(jsonb_agg(file.name order by file.name), '[]'::jsonb)
          from file where file.shipment_id = shipment.id::text)
      ) order by shipment.retain_until, shipment.id), '[]'::jsonb)
      from public.shipments as shipment
      where shipment.retain_until < (now() at time zone 'UTC')::date
    ),
    'files', (
      select coalesce(jsonb_agg(file.name order by file.name), '[]'::jsonb)
      from file
      where not exists (select from public.shipments where shipments.id::text = file.shipment_id)
    ),
    'accounts', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', account.id, 'email', account.email, 'last_seen', account.last_seen
      ) order by account.last_seen, account.id), '[]'::jsonb)
      from account
      where account.last_seen < now() - interval '7 years'
    )
  )
$$;
revoke all on function public.past_retention() from public, anon, authenticated;
grant execute on function public.past_retention() to service_role;
