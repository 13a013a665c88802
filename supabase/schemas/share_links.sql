-- The table contains only the hash of each link's token. To show a link again, the site derives the token from `id` and
-- the secret SESSION_SECRET.
create table private.share_links (
  id uuid primary key,
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  token_hash text not null unique check (token_hash ~ '^[0-9a-f]{64}$'),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 days'
);
alter table private.share_links enable row level security;

create index share_links_shipment_id on private.share_links (shipment_id);
create index share_links_expires_at on private.share_links (expires_at);

-- Returns the active share links of the caller's shipment, oldest first.
create function private.list_share_links(shipment_id uuid) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
#variable_conflict use_column
begin
  return (
    select coalesce(jsonb_agg(share order by share.created_at, share.id), '[]'::jsonb)
    from (
      select share_links.id, token_hash, share_links.created_at, expires_at
      from private.share_links join public.shipments as shipment on shipment.id = share_links.shipment_id
      where share_links.shipment_id = list_share_links.shipment_id and expires_at > now()
        and shipment.user_id = (select auth.uid()) and (select private.has_valid_session())
    ) as share
  );
end
$$;

-- Creates a share link. A second call with the same `id` changes nothing, so that a form sent twice creates one link.
create function public.create_share_link(id uuid, shipment_id uuid, token_hash text) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform private.reject_if(not private.has_valid_session(), 403, 'Log in again to continue.');
  -- Serialises parallel calls for one shipment, so that each call counts the links of earlier calls.
  perform from public.shipments
  where shipments.id = create_share_link.shipment_id and user_id = (select auth.uid()) and withdrawn_at is null
  for no key update;
  perform private.reject_if(not found, 404, 'Shipment not found.');
  if exists (
    select from private.share_links
    where share_links.id = create_share_link.id and share_links.shipment_id = create_share_link.shipment_id
      and share_links.token_hash = create_share_link.token_hash and expires_at > now()
  ) then
    return;
  end if;
  perform private.reject_if(exists (
    select from private.share_links where share_links.id = create_share_link.id
  ), 409, 'This share link has ended. Reload the page, then create a new link.');
  perform private.reject_if((
    select count(*) from private.share_links where share_links.shipment_id = create_share_link.shipment_id and expires_at > now()
  ) >= 5, 409, 'This shipment already has 5 share links, which is the maximum. End one of these links first.');
  perform private.limit_daily_actions(auth.uid(), 'share links', 100);
  insert into private.share_links (id, shipment_id, token_hash)
  values (create_share_link.id, create_share_link.shipment_id, create_share_link.token_hash);
  perform private.insert_client_entry('share', create_share_link.shipment_id);
end
$$;

-- Revokes the caller's share link. The row remains, so that a form that is submitted again cannot recreate the link.
create function public.revoke_share_link(id uuid) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  shared_shipment_id uuid;
begin
  perform private.reject_if(not private.has_valid_session(), 403, 'Log in again to continue.');
  update private.share_links set expires_at = now()
  from public.shipments as shipment
  where share_links.id = revoke_share_link.id and shipment.id = share_links.shipment_id
    and shipment.user_id = (select auth.uid()) and expires_at > now()
  returning shipment.id into shared_shipment_id;
  if found then perform private.insert_client_entry('end-share', shared_shipment_id); end if;
end
$$;

-- Returns the shipment of a share link, with its 15 newest tracking events, newest first.
-- Returns null if the link is invalid or expired, or if the client's account is closed.
create function public.shared_shipment(token text) returns jsonb
language sql stable security definer set search_path = '' as $$
  select jsonb_build_object(
    'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status, 'changed_at', shipment.changed_at,
    'tracking_events', (
      select coalesce(jsonb_agg(event), '[]'::jsonb)
      from (
        select tracking_events.status, location, created_at from public.tracking_events
        -- A share link shows no notes, because notes are only for the client.
        where tracking_events.shipment_id = shipment.id and tracking_events.kind <> 'note'
        order by created_at desc, id desc limit 15
      ) as event
    )
  )
  from private.share_links as share
  join public.shipments as shipment on shipment.id = share.shipment_id
  join auth.users as account on account.id = shipment.user_id
  where share.token_hash = private.token_hash(shared_shipment.token)
    and share.expires_at > now() and coalesce(account.banned_until < now(), true)
$$;

grant execute on function private.list_share_links, public.create_share_link, public.revoke_share_link to authenticated;
grant execute on function public.shared_shipment to service_role;
